"""OLM itself and its catalogs."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from api.objects import KubeObject
from e2e.harness.pki import CertificateAuthority
from e2e.harness.ports import free_port
from e2e.olm.api import Api, catalog_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.manifests import catalog, namespace
from e2e.olm.programs import SYSTEM_NAMESPACE, Olm
from olm_cli.__main__ import cli
from olm_runtime.clocks import utc_now
from tests.integration.doctor.world import (
    Doctor,
    program,
    secret,
)

pytestmark = pytest.mark.integration


def test_what_is_well_is_reported_in_lines(
    olm: Olm, doctor: Doctor, package: str, installed: Callable[..., None]
) -> None:
    installed(BundleSpec(package=package, version="1.0.0", crd_group=f"{package}.example.com"))
    code, report = doctor()
    bad = [f for f in report["findings"] if f["severity"] != "warning"]
    assert [f for f in bad if "does not work" not in f["message"]] == []
    assert len(report["checks"]) == 22
    done = CliRunner().invoke(
        cli, ["doctor", *doctor.arguments, "--kubeconfig", str(doctor.kubeconfig)]
    )
    assert done.exit_code == code
    assert done.stdout.startswith("error    ClusterExtension")
    assert "  ok       definitions " in done.stdout
    *_, last = done.stdout.splitlines()  # other tests may have left something
    assert re.fullmatch(r"22 checks: 1 error(, \d+ warnings?)?", last)


def test_a_lease_that_a_pod_holds_which_is_gone(olm: Olm, api: Api, doctor: Doctor) -> None:
    olm.stop_operator_controller()
    lease = "9c4404e7.operatorframework.io"
    path = f"/apis/coordination.k8s.io/v1/namespaces/{SYSTEM_NAMESPACE}/leases/{lease}"
    then = utc_now() - timedelta(minutes=5)
    dead = {
        "holderIdentity": "operator-controller-controller-manager-7d4f-x2x_0",
        "leaseDurationSeconds": 7200,
        "renewTime": then.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
    }
    api.patch(path, {"spec": dead})
    olm.start_operator_controller("--leader-elect")
    found = doctor.finds("leader", "error", "operator-controller has no leader")
    assert "no pod of that name" in found["why"]
    doctor.follow(found, "release it")

    def leads(obj: KubeObject | None) -> bool:
        holder = ((obj or {}).get("spec") or {}).get("holderIdentity") or ""
        return bool(holder) and holder != dead["holderIdentity"]

    api.wait(path, leads, what="the program that runs leads")
    assert doctor("--check", "leader")[0] == 0
    assert doctor("--check", "programs")[0] == 0


def test_a_certificate_of_catalogd_that_operator_controller_does_not_trust(
    olm: Olm, doctor: Doctor, tmp_path: Path
) -> None:
    served, other = (
        CertificateAuthority.load_or_create(tmp_path, name) for name in ("served", "other")
    )
    served.issue_server("catalogd", hosts=["catalogd-service.certs.svc"]).write(tmp_path, "c")
    serving = {
        "ca.crt": served.certificate,
        "tls.crt": (tmp_path / "c.crt").read_bytes(),
        "tls.key": (tmp_path / "c.key").read_bytes(),
    }
    olm.control_plane.apply(namespace("certs"))
    olm.control_plane.apply(json.dumps(secret("catalogd-cert", "certs", serving)))
    trusted = secret("olmv1-cert", "certs", {"ca.crt": other.certificate})
    olm.control_plane.apply(json.dumps(trusted))
    olm.control_plane.apply(
        program("catalogd", "certs", "tls-cert=/c/tls.crt", "catalogd-cert"),
    )
    olm.control_plane.apply(
        program("operator-controller", "certs", "catalogd-cas-dir=/c", "olmv1-cert"),
    )
    try:
        found = doctor.finds("certificates", "error", "operator-controller does not trust")
        assert "Secret certs/olmv1-cert" in found["why"]
        doctor.follow(found, "let it trust the CA that is served")
        assert doctor("--check", "certificates")[0] == 0
    finally:
        olm.control_plane.end("/api/v1/namespaces/certs")


def test_a_catalog_whose_registry_does_not_answer(olm: Olm, api: Api, doctor: Doctor) -> None:
    image = f"127.0.0.1:{free_port()}/team/catalog:latest"
    olm.control_plane.apply(catalog("unreachable", image))
    api.wait_condition(catalog_path("unreachable"), "Progressing", "True", message="refused")
    doctor.finds("catalogs", "error", "ClusterCatalog unreachable cannot be renewed")
    found = doctor.finds("registries", "error", "answers neither the cluster nor from here")
    doctor.follow(found, "take catalog unreachable out of use")
    assert doctor.is_content("catalogs", "unreachable")
    assert doctor.is_content("registries")
    olm.control_plane.end(catalog_path("unreachable"))


def test_two_installations(olm: Olm, doctor: Doctor) -> None:
    olm.control_plane.apply(namespace("second"))
    olm.control_plane.apply(program("operator-controller", "second"))
    try:
        found = doctor.finds("installations", "error", "operator-controller is installed 2 times")
        assert f"in {SYSTEM_NAMESPACE}, second" in found["message"]
        doctor.follow(found, "stop the one in second")
        assert doctor("--check", "installations")[0] == 0
    finally:
        olm.control_plane.end("/api/v1/namespaces/second")
