"""The CRDs of the Cluster Version Operator on a real API server.

The cases are data: see tests/cases/crd/README.md.
"""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from api.openshift.crds import CLUSTER_VERSION_KINDS
from e2e.harness.controlplane import ControlPlane
from tests.cases.crd.loader import Case, full_case, load_cases, merge_patch
from tests.integration.crd_cases import check_case
from tests.integration.test_crds import AN_AGE, MERGE_PATCH

pytestmark = pytest.mark.integration

PLURALS = [kind[0].plural for kind in CLUSTER_VERSION_KINDS]
STATUS = {"desired": {"version": "", "image": "a"}, "observedGeneration": 1, "versionHash": ""}

POOL_COUNTS = "MACHINECOUNT READYMACHINECOUNT UPDATEDMACHINECOUNT DEGRADEDMACHINECOUNT"
SHOWN = {
    "clusterversions": (
        "NAME VERSION AVAILABLE PROGRESSING SINCE STATUS",
        f"shown +4[.]18[.]1 +True +{AN_AGE} +b",
    ),
    "co": (
        "NAME VERSION AVAILABLE PROGRESSING DEGRADED SINCE",
        f"shown +1[.]0[.]0 +True +False +{AN_AGE}",
    ),
    "mcp": (
        f"NAME CONFIG UPDATED UPDATING DEGRADED {POOL_COUNTS} AGE",
        f"shown +rendered-worker-0 +False +5 +2 +3 +1 +{AN_AGE}",
    ),
}
"""By what is asked for: the columns, and a pattern of the case with every field."""


@pytest.fixture(scope="module")
def api(served: ControlPlane) -> Iterator[httpx.Client]:
    """A client of an API server which serves the kinds."""
    with served.client() as client:
        yield client


def path_of(obj: dict[str, Any]) -> str:
    return f"/apis/{obj['apiVersion']}/{obj['kind'].lower()}s"


def rows() -> list[Any]:
    return [
        pytest.param(case, id=f"{plural}: {case.name}")
        for plural in PLURALS
        for case in load_cases(f"cluster-version/{plural}")
    ]


@pytest.mark.parametrize("case", rows())
def test_case(api: httpx.Client, case: Case) -> None:
    """Only the last request of a case may be refused, and just as the case says."""
    check_case(api, path_of(case.object), case, CLUSTER_VERSION_KINDS)


@pytest.mark.parametrize(("kind", "plural"), list(zip(SHOWN, PLURALS, strict=True)))
def test_columns_of_kubectl_get(
    api: httpx.Client, served: ControlPlane, kind: str, plural: str
) -> None:
    case = full_case(f"cluster-version/{plural}")
    whole = merge_patch(case.object, {"metadata": {"name": "shown"}})
    path = path_of(whole)
    api.post(path, json=whole).raise_for_status()
    [(_, status)] = case.patches
    api.patch(f"{path}/shown/status", json=status, headers=MERGE_PATCH).raise_for_status()
    try:
        head, row = served.kubectl("get", kind, "shown").splitlines()
    finally:
        api.delete(f"{path}/shown")
    columns, pattern = SHOWN[kind]
    assert head.split() == columns.split()
    assert re.fullmatch(pattern, row.rstrip()), row


def test_that_nothing_is_available_is_null(api: httpx.Client) -> None:
    [case, *_] = load_cases("cluster-version/clusterversions")
    path = path_of(case.object)
    made = api.post(path, json=case.object).raise_for_status().json()
    named = f"{path}/{made['metadata']['name']}"
    try:
        made["status"] = STATUS | {"availableUpdates": None}
        held = api.put(f"{named}/status", json=made).raise_for_status().json()
        assert held["status"] == made["status"]
    finally:
        api.delete(named)
