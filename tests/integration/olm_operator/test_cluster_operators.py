"""ClusterOperators of OLM Classic: how it is, and which updates installed operators forbid."""

import json
from collections.abc import Iterator

import pytest

from api.objects import KubeObject, condition
from e2e.olm.classic import Classic, Place
from olm_classic.cluster_status import BLOCKING
from tests.integration.cluster_updates.openshift import OpenShift

pytestmark = pytest.mark.integration

PATH = "/apis/config.openshift.io/v1/clusteroperators"
OLM, CATALOG = "operator-lifecycle-manager", "operator-lifecycle-manager-catalog"
PACKAGES = "operator-lifecycle-manager-packageserver"


@pytest.fixture
def openshift(olm: Classic) -> Iterator[OpenShift]:
    """OpenShift's kinds, and both programs as they run there."""
    made = OpenShift(olm.control_plane)
    made.appear("4.18.3")
    olm.stop()
    olm.environment = {"RELEASE_VERSION": "4.18.3"}
    olm._operator_flags = (f"--writeStatusName={OLM}", f"--writePackageServerStatusName={PACKAGES}")
    olm.start(f"--writeStatusName={CATALOG}")
    yield made
    olm.stop()
    olm.environment, olm._operator_flags = {}, ()
    olm.start()
    made.disappear()


def wait_condition(olm: Classic, name: str, kind: str, status: str, message: str) -> KubeObject:
    def holds(obj: KubeObject | None) -> bool:
        found = condition(obj or {}, kind) or {}
        return found.get("status") == status and message in str(found.get("message"))

    return olm.api.wait(f"{PATH}/{name}", holds, what=f"{name} {kind}={status} {message}") or {}


def properties(version: str) -> dict[str, str]:
    listed = [{"type": "olm.maxOpenShiftVersion", "value": version}]
    return {"operatorframework.io/properties": json.dumps({"properties": listed})}


def test_cluster_operators_tell_how_olm_is_and_what_forbids_updates(
    olm: Classic, openshift: OpenShift, place: Place
) -> None:
    for name in (OLM, CATALOG):
        found = wait_condition(olm, name, "Progressing", "False", "Deployed 4.18.3")
        shown = {c["type"]: c["status"] for c in found["status"]["conditions"]}
        wanted = {"Available": "True", "Degraded": "False", "Upgradeable": "True"}
        assert shown.items() >= wanted.items()
        assert {"name": "operator", "version": "4.18.3"} in found["status"]["versions"]
    wait_condition(olm, PACKAGES, "Available", "False", "v1.packages.operators.coreos.com")

    place.csv("limited.v1", annotations=properties("4.18"))
    line = f"- maximum supported OCP version for {place.name}/limited.v1 is 4.18"
    found = wait_condition(olm, OLM, "Upgradeable", "False", line)
    upgradeable = condition(found, "Upgradeable") or {}
    assert upgradeable["reason"] == "IncompatibleOperatorsInstalled"
    assert upgradeable["message"] == f"{BLOCKING}\n{line}"
    place.csv("limited.v1", annotations=properties("4.19"))
    wait_condition(olm, OLM, "Upgradeable", "True", "")
    place.csv("limited.v1", annotations=properties("none"))
    wait_condition(olm, OLM, "Upgradeable", "False", "has invalid olm.maxOpenShiftVersion")
    place.delete("clusterserviceversions", "limited.v1")
    wait_condition(olm, OLM, "Upgradeable", "True", "")
