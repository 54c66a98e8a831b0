"""Runs the cases of kinds against a real API server: see tests/cases/crd/README.md."""

from collections.abc import Sequence
from typing import Any

import httpx

from api import wire
from api.crd import Resource
from tests.cases.crd.loader import Case
from tests.integration.test_crds import MERGE_PATCH, assert_contains, complaints

Kinds = Sequence[Sequence[Resource]]
"""The versions of each kind."""


def check_case(api: httpx.Client, path: str, case: Case, kinds: Kinds) -> None:
    """Sends the requests of a case to a collection: only the last may be refused, as it says."""
    named = f"{path}/{case.object['metadata']['name']}"
    updates = [
        api.build_request("PATCH", named + place, json=patch, headers=MERGE_PATCH)
        for place, patch in case.patches
    ]
    *before, last = [api.build_request("POST", path, json=case.object), *updates]
    try:
        for request in before:
            api.send(request).raise_for_status()
        answer = api.send(last)
        assert complaints(answer, case.refused) == case.refused, answer.text
        if answer.is_success:
            held = api.get(named).json()
            assert_contains(held, case.stored)
            assert_model_keeps(held, kinds)
    finally:
        api.delete(named)


def assert_model_keeps(held: dict[str, Any], kinds: Kinds) -> None:
    """Models write all that is held, but for what is empty."""
    written = wire.write(wire.read(resource_of(held, kinds).model, held))
    for part in ("spec", "status"):
        assert without_empty(written.get(part)) == without_empty(held.get(part))


def without_empty(value: Any) -> Any:
    """The value without empty fields, at any depth; None for an empty one."""
    if isinstance(value, dict):
        reduced = {key: without_empty(each) for key, each in value.items()}
        return {key: each for key, each in reduced.items() if each is not None} or None
    if isinstance(value, list):
        return [without_empty(each) for each in value] or None
    return value or None


def resource_of(held: dict[str, Any], kinds: Kinds) -> Resource:
    """The version of a kind that an object has."""
    (resource,) = (
        version
        for kind in kinds
        for version in kind
        if held["apiVersion"] == f"{version.group}/{version.version}"
        and held["kind"] == version.model.__name__
    )
    return resource
