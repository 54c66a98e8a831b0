"""ClusterOperator/olm: whether what is installed holds back OpenShift's minor updates."""

import asyncio
import json
import logging
import secrets
import shlex
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from api.objects import KubeObject, annotations_of, condition, metadata
from api.olm.v1.names import GROUP
from e2e.olm.api import OLM, Api, catalog_path, extension_path
from e2e.olm.bundles import LimitedBundle
from e2e.olm.manifests import with_administrator
from e2e.olm.pages import HOW_TO, shows, steps
from e2e.olm.programs import SYSTEM_NAMESPACE, Olm
from olm_runtime.kube.client import KubeClient
from olm_runtime.outcome import Done
from olm_runtime.watch.packed_store import PackedStore
from operator_controller.controllers.cluster_operator import ClusterOperatorController
from operator_controller.io.revisions import RevisionStore
from tests.integration.cluster_updates.openshift import OpenShift
from tests.integration.olm_shell import trusting

pytestmark = pytest.mark.integration

CLUSTER_OPERATORS = "/apis/config.openshift.io/v1/clusteroperators"
CLUSTER_OPERATOR = f"{CLUSTER_OPERATORS}/olm"
ASK, DELETE = steps(HOW_TO / "openshift.md")

Serve = Callable[[str, str], None]
Publish = Callable[..., str]


def wait_upgradeable(api: Api, status: str, message: str) -> KubeObject:
    return api.wait_condition(CLUSTER_OPERATOR, "Upgradeable", status, message=message)


def version_of(api: Api, path: str) -> str:
    return str(metadata(api.get(path) or {})["resourceVersion"])


def quiet_version_of(api: Api, path: str) -> str:
    """Once it has stayed the same for a while: what has just happened is still being noted."""
    version = ""
    while version != (found := version_of(api, path)):
        version = found
        time.sleep(2.0)
    return version


def test_what_is_installed_keeps_openshift_from_its_next_version(
    olm: Olm,
    api: Api,
    openshift: OpenShift,
    package: str,
    publish_catalog: Publish,
    serve_catalog: Serve,
    tmp_path: Path,
) -> None:
    kubectl = olm.control_plane.kubectl
    bundles = (
        LimitedBundle(package=package, version="1.0.0", latest="4.18"),
        LimitedBundle(package=package, version="1.1.0", latest="4.19", in_csv=False),
    )
    image = publish_catalog(*bundles)
    serve_catalog(package, image)
    olm.control_plane.apply(with_administrator(package, "1.0.0"))
    api.wait_installed(package, "1.0.0")
    assert api.get(CLUSTER_OPERATOR) is None

    openshift.appear("4.18.3")
    named = (
        f'ClusterExtension "{package}" (bundle "{package}.v1.0.0", olm.maxOpenShiftVersion 4.18)'
    )
    found = wait_upgradeable(api, "False", f"OpenShift 4.19 is not permitted by {named}")
    shown = {c["type"]: (c["status"], c["reason"]) for c in found["status"]["conditions"]}
    assert shown == {
        "Available": ("True", "AsExpected"),
        "Progressing": ("False", "AsExpected"),
        "Degraded": ("False", "AsExpected"),
        "Upgradeable": ("False", "IncompatibleOperatorsInstalled"),
    }
    page = (ASK.expected or "").replace("hello", package)
    assert shows(page, kubectl(*shlex.split(ASK.command)[1:]))
    assert [each["name"] for each in found["status"]["versions"]] == ["operator"]
    related = [(each["resource"], each["name"]) for each in found["status"]["relatedObjects"]]
    assert ("namespaces", SYSTEM_NAMESPACE) in related

    # Known from the revision alone, and right as it is.
    olm.control_plane.end(catalog_path(package))
    paths = (CLUSTER_OPERATOR, f"{OLM}/clusterobjectsets/{package}-1")
    before = [quiet_version_of(api, path) for path in paths]
    olm.kill(olm.operator_controller)
    olm.start_operator_controller()
    time.sleep(5.0)
    assert [version_of(api, path) for path in paths] == before

    serve_catalog(package, image)
    olm.control_plane.apply(with_administrator(package, "1.1.0"))
    api.wait_installed(package, "1.1.0")
    wait_upgradeable(api, "True", "nothing that is installed forbids OpenShift 4.19")
    openshift.be("4.19.0-rc.1")
    planned = trusting(olm, tmp_path)(olm.control_plane.kubeconfig).answer(
        *("plan", package, "--version=1.0.0", "--upgrade-constraint-policy=SelfCertified")
    )
    [note] = planned["plans"][0]["notes"]
    assert note.startswith(f"OpenShift 4.20 is not permitted by {named}: update")
    wait_upgradeable(api, "False", f'{package}.v1.1.0", olm.maxOpenShiftVersion 4.19')

    # What comes from a retained revision takes its note along.
    back = {"version": "1.0.0", "upgradeConstraintPolicy": "SelfCertified"}
    api.patch(extension_path(package), {"spec": {"source": {"catalog": back}}})
    api.wait_installed(package, "1.0.0")
    wait_upgradeable(api, "False", f"OpenShift 4.20 is not permitted by {named}: update")

    olm.control_plane.end(extension_path(package))
    wait_upgradeable(api, "True", "nothing that is installed forbids OpenShift 4.20")

    kubectl(*shlex.split(DELETE.command)[1:])
    openshift.disappear()
    olm.control_plane.apply(with_administrator(package))
    api.wait_installed(package, "1.1.0")
    olm.control_plane.end(extension_path(package))


def test_a_revision_without_the_note_is_left_alone(
    olm: Olm, api: Api, package: str, publish_catalog: Publish, serve_catalog: Serve
) -> None:
    """As one that was made before there were such notes; what is written anew has it again."""
    serve_catalog(
        package, publish_catalog(LimitedBundle(package=package, version="1.0.0", latest="4.18"))
    )
    olm.control_plane.apply(with_administrator(package))
    api.wait_installed(package, "1.0.0")
    path = f"{OLM}/clusterobjectsets/{package}-1"
    noted = annotations_of(api.get(path) or {})["olm.properties"]
    assert json.loads(noted) == [{"type": "olm.maxOpenShiftVersion", "value": "4.18"}]
    api.patch(path, {"metadata": {"annotations": {"olm.properties": None}}})
    before = quiet_version_of(api, path)
    olm.kill(olm.operator_controller)
    olm.start_operator_controller()
    time.sleep(5.0)
    assert version_of(api, path) == before
    assert api.get(f"{OLM}/clusterobjectsets/{package}-2") is None
    # Other inputs that render to the same objects.
    patch = {
        "spec": {"config": {"configType": "Inline", "inline": {"deploymentConfig": {"env": []}}}}
    }
    api.patch(extension_path(package), patch)
    api.wait(
        path,
        lambda obj: annotations_of(obj or {}).get("olm.properties") == noted,
        what="the note is there again",
    )
    olm.control_plane.end(extension_path(package))


# --- by itself, with the product stopped -----------------------------------------------------


@pytest.fixture
def stopped(olm: Olm) -> Iterator[Olm]:
    """Nobody else keeps the ClusterOperator."""
    olm.stop_operator_controller()
    yield olm
    olm.start_operator_controller()


def controller(client: KubeClient) -> ClusterOperatorController:
    object_sets = PackedStore()
    object_sets.replace([], "0")
    return ClusterOperatorController(
        client,
        RevisionStore(client, object_sets, SYSTEM_NAMESPACE),
        clock=lambda: datetime(2025, 1, 1, tzinfo=UTC),
        namespace=SYSTEM_NAMESPACE,
        release="1.2.3",
    )


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


async def test_where_the_kind_is_not_served_nothing_happens(
    stopped: Olm, client: KubeClient, caplog: pytest.LogCaptureFixture
) -> None:
    keeper = controller(client)
    caplog.set_level(logging.INFO)
    assert await keeper.reconcile("olm") == Done(30.0)
    assert caplog.records == []
    asked = dict(client.answers)
    assert asked == {("GET", "404"): 1}


async def test_what_others_say_stays_and_what_is_right_is_not_written(
    stopped: Olm, client: KubeClient, api: Api, openshift: OpenShift
) -> None:
    openshift.appear("4.18.3")
    keeper = controller(client)
    await keeper.reconcile("olm")
    since = "2020-01-01T00:00:00Z"
    theirs: list[dict[str, Any]] = [
        {"type": "RecentBackup", "status": "Unknown", "lastTransitionTime": since},
        {"type": "Upgradeable", "status": "True", "reason": "Odd", "lastTransitionTime": since},
    ]
    kind = ("clusteroperator", "olm", "--subresource=status", "--type=merge")
    openshift.kubectl("patch", *kind, f"--patch={json.dumps({'status': {'conditions': theirs}})}")
    await keeper.reconcile("olm")
    found = api.get(CLUSTER_OPERATOR) or {}
    assert condition(found, "RecentBackup") == theirs[0]
    upgradeable = condition(found, "Upgradeable") or {}
    assert (upgradeable["reason"], upgradeable["lastTransitionTime"]) == ("AsExpected", since)
    assert found["status"]["versions"] == [{"name": "operator", "version": "1.2.3"}]
    before = version_of(api, CLUSTER_OPERATOR)
    writes = client.answers["PATCH", "200"]
    await keeper.reconcile("olm")
    await controller(client).reconcile("olm")
    assert client.answers["PATCH", "200"] == writes
    assert version_of(api, CLUSTER_OPERATOR) == before
    api.delete(CLUSTER_OPERATOR)
    await keeper.reconcile("olm")
    assert condition(api.get(CLUSTER_OPERATOR) or {}, "Upgradeable")


async def test_a_right_that_is_missing_is_reported_once(
    stopped: Olm,
    client: KubeClient,
    api: Api,
    openshift: OpenShift,
    caplog: pytest.LogCaptureFixture,
) -> None:
    openshift.appear("4.18.3")
    name = f"account-{secrets.token_hex(4)}"
    openshift.kubectl("create", "serviceaccount", name, "-n", "default")
    keeper = controller(client.as_service_account("default", name))
    for _ in range(3):
        assert await keeper.reconcile("olm") == Done(30.0)
    [reported] = warnings(caplog)
    assert reported.startswith("cannot keep ClusterOperator olm: clusteroperators")
    assert "is forbidden" in reported
    assert api.list(CLUSTER_OPERATORS) == []

    caplog.clear()
    group = "config.openshift.io"
    resources = (
        f"clusteroperators.{group},clusteroperators.{group}/status,clusterobjectsets.{GROUP}"
    )
    openshift.kubectl(
        "create", "clusterrole", name, "--verb=get,list,create,patch", f"--resource={resources}"
    )
    who = f"--serviceaccount=default:{name}"
    openshift.kubectl("create", "clusterrolebinding", name, f"--clusterrole={name}", who)
    for _ in range(50):
        await keeper.reconcile("olm")
        if api.get(CLUSTER_OPERATOR):
            break
        await asyncio.sleep(0.1)
    for _ in range(3):
        await keeper.reconcile("olm")
    found = condition(api.get(CLUSTER_OPERATOR) or {}, "Degraded") or {}
    assert (found["status"], found["reason"]) == ("True", "ClusterVersionUnknown")
    assert found["message"].startswith("cannot read ClusterVersion version: clusterversions")
    assert warnings(caplog).count(found["message"]) == 1
