"""Extensions that something keeps from working."""

from collections.abc import Callable

import pytest

from api.olm.v1 import names
from e2e.harness.controlplane import wait_until
from e2e.olm.api import Api, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.manifests import namespace, with_administrator
from e2e.olm.programs import Olm
from tests.integration.doctor.world import WORKLOAD, Doctor

pytestmark = pytest.mark.integration


def test_a_revision_that_wants_an_object_of_somebody_else(
    olm: Olm,
    api: Api,
    doctor: Doctor,
    package: str,
    publish_catalog: Callable[..., str],
    serve_catalog: Callable[[str, str], None],
) -> None:
    olm.control_plane.apply(namespace(package))
    settings = {"metadata": {"name": f"{package}-settings"}}
    api.create(f"/api/v1/namespaces/{package}/configmaps", settings)
    serve_catalog(package, publish_catalog(BundleSpec(package=package, version="1.0.0")))
    olm.control_plane.apply(with_administrator(package, "1.0.0"))
    api.wait_condition(
        extension_path(package), "Progressing", "True", message="cannot be managed by"
    )
    found = doctor.finds("revisions", "error", f"of extension {package} cannot proceed")
    assert f"ConfigMap '{package}-settings' already exists" in found["why"]
    assert doctor.is_content("extensions", package)
    doctor.follow(found, "remove the object")
    api.wait_installed(package, "1.0.0")
    assert doctor.is_content("revisions", package)
    olm.control_plane.end(extension_path(package))


def test_an_extension_whose_namespace_and_account_are_gone(
    olm: Olm, api: Api, doctor: Doctor, package: str, installed: Callable[..., None]
) -> None:
    installed(BundleSpec(package=package, version="1.0.0"))
    api.delete(f"/api/v1/namespaces/{package}/serviceaccounts/installer")
    found = doctor.finds("accounts", "error", f"service account {package}/installer")
    doctor.follow(found, "make it again")
    assert doctor.is_content("accounts", package)
    olm.control_plane.end(f"/api/v1/namespaces/{package}")
    found = doctor.finds("accounts", "error", f"names namespace {package}, which is not there")
    doctor.follow(found, "make it again")
    assert doctor.is_content("accounts", package)
    api.wait_installed(package, "1.0.0")


def test_pods_that_a_quota_does_not_let_be_made(olm: Olm, api: Api, doctor: Doctor) -> None:
    olm.control_plane.apply(namespace("narrow"))
    # Its controller does not run here.
    path = "/api/v1/namespaces/narrow/resourcequotas/none"
    quota = {"metadata": {"name": "none"}, "spec": {"hard": {"pods": "0"}}}
    api.create(path.rpartition("/")[0], quota)
    api.patch(f"{path}/status", {"status": {"hard": {"pods": "0"}, "used": {"pods": "0"}}})
    olm.control_plane.apply(WORKLOAD.format(namespace="narrow", secret="none"))
    labels = {
        names.LABEL_OWNER_KIND: names.CLUSTER_EXTENSION,
        names.LABEL_OWNER_NAME: "guard",
    }
    deployment = "/apis/apps/v1/namespaces/narrow/deployments/guard"
    api.patch(deployment, {"metadata": {"labels": labels}})
    api.wait_condition(deployment, "ReplicaFailure", "True", message="exceeded quota")
    found = doctor.finds("quotas", "error", "pods of Deployment narrow/guard cannot be made")
    doctor.follow(found, "raise the quota")
    api.patch(f"{path}/status", {"status": {"hard": {"pods": "1"}}})
    wait_until(lambda: api.list("/api/v1/namespaces/narrow/pods") != [], what="its pod is made")
    wait_until(lambda: doctor("--check", "quotas")[0] == 0, what="the Deployment says so")
    olm.control_plane.end("/api/v1/namespaces/narrow")
