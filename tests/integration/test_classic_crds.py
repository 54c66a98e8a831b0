"""The CRDs of OLM Classic on a real API server, and the ClusterServiceVersions of real bundles.

The cases are data: see tests/cases/crd/README.md.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.crd import Scope
from api.openshift import crds as openshift
from api.operators import crds as operators
from config.generate import CLASSIC_CRD_FOLDER
from e2e.harness.controlplane import ControlPlane
from e2e.harness.pytest_plugin import Kubectl
from olm_content.formats.kube_yaml import load_all
from olm_content.kube_types.go_types import read
from tests.cases.crd.loader import Case, load_cases, merge_patch
from tests.integration.crd_cases import assert_model_keeps, check_case
from tests.integration.test_crds import AN_AGE

pytestmark = pytest.mark.integration

KINDS = (*operators.KINDS, *openshift.KINDS)
STORED = {kind[0].plural: kind[0] for kind in KINDS}

COLUMNS = {
    "clusterserviceversions": "NAME DISPLAY VERSION RELEASE REPLACES PHASE",
    "subscriptions": "NAME PACKAGE SOURCE CHANNEL",
    "installplans": "NAME CSV APPROVAL APPROVED",
    "catalogsources": "NAME DISPLAY TYPE PUBLISHER AGE",
    "operatorgroups": "NAME AGE",
    "operatorconditions": "NAME AGE",
    "olmconfigs": "NAME AGE",
    "operators": "NAME AGE",
    "operatorhubs": "NAME AGE",
}
ALIASES = ("csv", "csvs", "sub", "subs", "ip", "catsrc", "og", "condition", "olm")

UNKNOWN = {"support", "MinKubeVersion", "Kind"}
"""Fields of real versions that upstream's type has not, or not so spelled."""


@pytest.fixture(scope="module")
def api(control_plane: ControlPlane) -> Iterator[httpx.Client]:
    """A client of an API server which serves the kinds."""
    control_plane.apply(CLASSIC_CRD_FOLDER)
    with control_plane.client() as client:
        yield client
    control_plane.delete(CLASSIC_CRD_FOLDER)


def collection(plural: str, obj: dict[str, Any]) -> str:
    place = "" if STORED[plural].scope is Scope.CLUSTER else "/namespaces/default"
    return f"/apis/{obj['apiVersion']}{place}/{plural}"


def rows() -> list[Any]:
    return [
        pytest.param(plural, case, id=f"{plural}: {case.name}")
        for plural in STORED
        for case in load_cases(f"classic/{plural}")
    ]


@pytest.mark.parametrize(("plural", "case"), rows())
def test_case(api: httpx.Client, plural: str, case: Case) -> None:
    """Only the last request of a case may be refused, and just as the case says."""
    check_case(api, collection(plural, case.object), case, KINDS)


def test_versions_convert_by_their_name(api: httpx.Client) -> None:
    group = load_cases("classic/operatorgroups")[0].object
    older = {**group, "apiVersion": "operators.coreos.com/v1alpha2", "spec": {}}
    named = f"{collection('operatorgroups', older)}/{older['metadata']['name']}"
    api.post(collection("operatorgroups", older), json=older).raise_for_status()
    try:
        as_stored = api.get(named.replace("v1alpha2", "v1")).json()
        assert as_stored["apiVersion"] == "operators.coreos.com/v1"
        assert as_stored["spec"] == {"upgradeStrategy": "Default"}
        assert api.get(named).json()["spec"] == {}
    finally:
        api.delete(named)


@pytest.mark.parametrize("plural", COLUMNS)
def test_columns_of_kubectl_get(api: httpx.Client, plural: str, kubectl: Kubectl) -> None:
    least = load_cases(f"classic/{plural}")[0].object
    shown = merge_patch(least, {"metadata": {"name": "shown"}})
    path = collection(plural, shown)
    api.post(path, json=shown).raise_for_status()
    try:
        head, row = kubectl("get", plural, "shown", "-n", "default").splitlines()
    finally:
        api.delete(f"{path}/shown")
    assert head.split() == COLUMNS[plural].split()
    assert row.split()[0] == "shown"
    assert ("AGE" in head.split()) == bool(re.search(rf"\s{AN_AGE}$", row))


@pytest.mark.usefixtures("api")
@pytest.mark.parametrize("alias", ALIASES)
def test_short_names_and_the_category(alias: str, kubectl: Kubectl) -> None:
    kubectl("get", alias, "-n", "default")


@pytest.mark.usefixtures("api")
def test_kubectl_explains_what_is_embedded(kubectl: Kubectl) -> None:
    path = "csv.spec.install.spec.deployments.spec.template.spec.containers.livenessProbe"
    assert "timeoutSeconds" in kubectl("explain", path)


def test_real_versions_are_kept_as_they_are(api: httpx.Client, corpus: Path) -> None:
    """As in the bundle, and as Go's types write it, which is what a plan writes."""
    files = sorted((corpus / "bundles").rglob("*.clusterserviceversion.yaml"))
    assert len(files) > 40
    for file in files:
        (raw,) = load_all(file.read_bytes())
        assert_kept(api, without_unknown(raw))
        assert_kept(api, read("ClusterServiceVersion", raw))


def assert_kept(api: httpx.Client, written: dict[str, Any]) -> None:
    path = collection("clusterserviceversions", written)
    obj = {**written, "metadata": {"name": written["metadata"]["name"]}}
    answer = api.post(path, json=obj)
    assert answer.is_success, answer.text
    try:
        held = api.get(f"{path}/{obj['metadata']['name']}").json()
        assert held["spec"] == with_default_ports(obj["spec"])
        assert_model_keeps(read("ClusterServiceVersion", held), KINDS)
    finally:
        api.delete(f"{path}/{obj['metadata']['name']}")


def with_default_ports(spec: dict[str, Any]) -> dict[str, Any]:
    """The one default that the schema has."""
    if "webhookdefinitions" not in spec:
        return spec
    webhooks = [{"containerPort": 443} | each for each in spec["webhookdefinitions"]]
    return spec | {"webhookdefinitions": webhooks}


def without_unknown(value: Any) -> Any:
    """The value without the fields that upstream's type has not, which the API server drops."""
    if isinstance(value, dict):
        return {key: without_unknown(each) for key, each in value.items() if key not in UNKNOWN}
    return [without_unknown(each) for each in value] if isinstance(value, list) else value
