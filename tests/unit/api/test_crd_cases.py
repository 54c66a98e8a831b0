"""The cases for the API server are complete, and those without one hold in Python too."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from api import wire
from api.olm.v1.crds import RESOURCES, definitions
from api.olm.v1.versions import VERSION_RANGE
from tests.cases.crd.loader import PLURALS, full_case, load_cases, load_versions, merge_patch

ALTERNATIVES = {"spec.install.preflight.crdUpgradeSafety.disabled"}
"""Fields that exclude another one, and have cases of their own."""


def schema_of(plural: str) -> Any:
    [version] = definitions()[f"olm.operatorframework.io_{plural}"]["spec"]["versions"]
    return version["schema"]["openAPIV3Schema"]


def schemas_in(schema: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every schema below one, with the path of its field; entries of lists are `field[]`."""
    yield path, schema
    for key, part in schema.get("properties", {}).items():
        yield from schemas_in(part, f"{path}.{key}" if path else key)
    if "items" in schema:
        yield from schemas_in(schema["items"], f"{path}[]")


def test_there_are_cases_for_every_kind() -> None:
    assert sorted(PLURALS) == sorted(resource.plural for resource in RESOURCES)


@pytest.mark.parametrize("plural", PLURALS)
def test_every_rule_has_a_refused_case(plural: str) -> None:
    rules = {
        (path, rule["message"])
        for path, schema in schemas_in(schema_of(plural))
        for rule in schema.get("x-kubernetes-validations", ())
    }
    refused = {
        (re.sub(r"\[\d+\]", "[]", field), message)
        for case in load_cases(plural)
        for complaint in case.refused
        for field, message in complaint.items()
    }
    assert rules - refused == set()


@pytest.mark.parametrize("plural", PLURALS)
def test_a_case_has_every_field(plural: str) -> None:
    case = full_case(plural)
    [(_, status)] = case.patches
    given = set(paths_in(merge_patch(case.object, status)))
    assert {path for path, _ in schemas_in(schema_of(plural))} - given <= ALTERNATIVES


def paths_in(value: Any, path: str = "") -> Iterator[str]:
    yield path
    if isinstance(value, dict):
        for key, part in value.items():
            yield from paths_in(part, f"{path}.{key}" if path else key)
    if isinstance(value, list):
        for entry in value:
            yield from paths_in(entry, f"{path}[]")


@pytest.mark.parametrize("plural", PLURALS)
def test_what_is_admitted_is_read_and_written_the_same(plural: str) -> None:
    (model,) = (resource.model for resource in RESOURCES if resource.plural == plural)
    case = full_case(plural)
    whole = merge_patch(case.object, case.patches[0][1])
    assert wire.write(wire.read(model, whole)) == {
        key: value for key, value in whole.items() if key not in ("apiVersion", "kind")
    }


@pytest.mark.parametrize("version", load_versions("accepted"))
def test_version_range_is_admitted(version: str) -> None:
    assert matches_whole(VERSION_RANGE, version)


@pytest.mark.parametrize("version", load_versions("refused"))
def test_version_range_is_refused(version: str) -> None:
    assert not matches_whole(VERSION_RANGE, version)


def matches_whole(pattern: str, text: str) -> bool:
    """As RE2 sees it: classes are ASCII, and `$` is the end of the text, not of a line."""
    return re.search(pattern.removesuffix("$") + r"\Z", text, re.ASCII) is not None
