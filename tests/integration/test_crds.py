"""The CRDs on a real API server: it is the one that reads their rules, so it is asked.

The cases are data: see tests/cases/crd/README.md.
"""

import re
from collections.abc import Iterator
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import httpx
import pytest

from api import wire
from api.olm.v1.crds import RESOURCES
from e2e.harness.controlplane import ControlPlane, wait_until
from e2e.harness.pytest_plugin import Kubectl
from tests.cases.crd.loader import (
    PLURALS,
    Case,
    field_of,
    full_case,
    load_cases,
    load_versions,
    merge_patch,
)
from tests.integration.clusters import own_control_plane

pytestmark = pytest.mark.integration

CRD_FOLDER = Path(__file__).parents[2] / "config" / "crd"
GROUP_PATH = "/apis/olm.operatorframework.io/v1"
MERGE_PATCH = {"Content-Type": "application/merge-patch+json"}

AN_AGE = r"(\d+[smhdy])+"
COLUMNS = {
    "clustercatalogs": {"LASTUNPACKED": AN_AGE, "SERVING": "True"},
    "clusterextensions": {
        "INSTALLED BUNDLE": r"argocd-operator\.v0\.6\.0",
        "VERSION": r"0\.6\.0",
        "INSTALLED": "True",
        "PROGRESSING": "",
    },
    "clusterobjectsets": {"AVAILABLE": "True", "PROGRESSING": ""},
}
"""Patterns of what `kubectl get` shows of the case with every field, between name and age."""


control_plane = own_control_plane(controller_manager=False)
"""One on which nobody acts upon the objects."""


@pytest.fixture(scope="module")
def api(control_plane: ControlPlane) -> Iterator[httpx.Client]:
    """A client of an API server which serves the three kinds."""
    control_plane.apply(CRD_FOLDER)
    with control_plane.client() as client:
        for plural in PLURALS:
            wait_until(partial(is_served, client, plural), what=f"{plural} served")
        yield client


def is_served(client: httpx.Client, plural: str) -> bool:
    return client.get(f"{GROUP_PATH}/{plural}").is_success


def rows(plural: str) -> list[Any]:
    return [pytest.param(plural, case, id=f"{plural}: {case.name}") for case in load_cases(plural)]


@pytest.mark.parametrize(("plural", "case"), [row for plural in PLURALS for row in rows(plural)])
def test_case(api: httpx.Client, plural: str, case: Case) -> None:
    """Only the last request of a case may be refused, and just as the case says."""
    named = f"{GROUP_PATH}/{plural}/{case.object['metadata']['name']}"
    *before, last = requests(api, plural, case)
    try:
        for request in before:
            api.send(request).raise_for_status()
        answer = api.send(last)
        assert complaints(answer, case.refused) == case.refused, answer.text
        if answer.is_success:
            assert_contains(api.get(named).json(), case.stored)
    finally:
        api.delete(named)


def requests(api: httpx.Client, plural: str, case: Case) -> list[httpx.Request]:
    path = f"{GROUP_PATH}/{plural}"
    named = f"{path}/{case.object['metadata']['name']}"
    create = api.build_request("POST", path, json=case.object)
    return [create] + [
        api.build_request("PATCH", named + place, json=patch, headers=MERGE_PATCH)
        for place, patch in case.patches
    ]


def complaints(answer: httpx.Response, expected: list[dict[str, str]]) -> list[dict[str, str]]:
    """What a refusal complains of; a message that ends as expected is shown as it is expected."""
    if answer.is_success:
        return []
    assert answer.json()["reason"] == "Invalid", answer.text
    causes: list[dict[str, str]] = [
        {cause["field"]: cause["message"]}
        for cause in answer.json()["details"]["causes"]
        if not cause["message"].endswith("correct the existing errors to complete validation")
    ]
    causes.sort(
        key=field_of
    )  # the API server walks over maps; only the rules of a field have order
    nothing: dict[str, str] = {}
    pairs = zip_longest(causes, expected, fillvalue=nothing)
    return [wanted if _ends_as(cause, wanted) else cause for cause, wanted in pairs if cause]


def _ends_as(cause: dict[str, str], wanted: dict[str, str]) -> bool:
    return cause.keys() == wanted.keys() and all(
        cause[field].endswith(message) for field, message in wanted.items()
    )


def assert_contains(found: Any, expected: Any) -> None:
    """`expected` is a part of `found`; null means absent."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            if value is None:
                assert key not in found
            else:
                assert_contains(found[key], value)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_contains(one, other)
    else:
        assert found == expected


@pytest.mark.parametrize("version", load_versions("accepted"))
def test_version_range_is_admitted(api: httpx.Client, version: str) -> None:
    assert try_version(api, version).is_success


@pytest.mark.parametrize("version", load_versions("refused"))
def test_version_range_is_refused(api: httpx.Client, version: str) -> None:
    expected = [{"spec.source.catalog.version": "invalid version expression"}]
    assert complaints(try_version(api, version), expected) == expected


def try_version(api: httpx.Client, version: str) -> httpx.Response:
    least = load_cases("clusterextensions")[0].object
    extension = merge_patch(least, {"spec": {"source": {"catalog": {"version": version}}}})
    return api.post(f"{GROUP_PATH}/clusterextensions?dryRun=All", json=extension)


@pytest.fixture(params=PLURALS)
def shown(api: httpx.Client, request: pytest.FixtureRequest) -> Iterator[str]:
    """The plural of a kind, of which there is an object `shown` with every field."""
    plural: str = request.param
    case = full_case(plural)
    path = f"{GROUP_PATH}/{plural}"
    whole = merge_patch(case.object, {"metadata": {"name": "shown"}})
    api.post(path, json=whole).raise_for_status()
    [(_, status)] = case.patches
    api.patch(f"{path}/shown/status", json=status, headers=MERGE_PATCH).raise_for_status()
    yield plural
    api.delete(f"{path}/shown")


def test_columns_of_kubectl_get(shown: str, kubectl: Kubectl) -> None:
    head, row = kubectl("get", shown, "shown").splitlines()
    names = list(re.finditer(r"\S+( \S+)*", head))  # columns are at least two blanks apart
    ends = [*(name.start() for name in names[1:]), len(row)]
    found = {
        name[0]: row[name.start() : end].strip() for name, end in zip(names, ends, strict=True)
    }
    expected = {"NAME": "shown", **COLUMNS[shown], "AGE": AN_AGE}
    assert list(found) == list(expected)
    for name, pattern in expected.items():
        assert re.fullmatch(pattern, found[name]), name


def test_models_read_and_write_what_the_api_server_holds(api: httpx.Client, shown: str) -> None:
    named = f"{GROUP_PATH}/{shown}/shown"
    (model,) = (each.model for each in RESOURCES if each.plural == shown)
    held = api.get(named).json()
    written = wire.write(wire.read(model, held))
    assert written["spec"] == held["spec"]
    assert written["status"] == held["status"]


def test_kubectl_explain_shows_what_a_field_means(api: httpx.Client, kubectl: Kubectl) -> None:
    text = kubectl("explain", "clusterextension.spec.source.catalog.version")
    assert '"1.4.2" pins one version.' in text


def test_server_side_apply_merges_conditions_by_type(api: httpx.Client) -> None:
    """Two writers of status keep each other's conditions."""
    path = f"{GROUP_PATH}/clustercatalogs"
    named = f"{path}/two-writers"
    least = load_cases("clustercatalogs")[0].object
    api.post(path, json=merge_patch(least, {"metadata": {"name": "two-writers"}}))
    try:
        for kind in ("Serving", "Progressing"):
            body = merge_patch(least, {"metadata": {"name": "two-writers"}, "spec": None})
            body["status"] = {"conditions": [condition(kind)]}
            api.patch(
                f"{named}/status",
                params={"fieldManager": kind},
                json=body,
                headers={"Content-Type": "application/apply-patch+yaml"},
            ).raise_for_status()
        held = api.get(named).json()["status"]["conditions"]
        assert [each["type"] for each in held] == ["Serving", "Progressing"]
    finally:
        api.delete(named)


def condition(kind: str) -> dict[str, str]:
    return {
        "type": kind,
        "status": "True",
        "reason": "Succeeded",
        "message": "",
        "lastTransitionTime": "2025-02-18T20:29:00Z",
    }
