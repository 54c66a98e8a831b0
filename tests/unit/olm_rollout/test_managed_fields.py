"""Who has which field of an object, and who wrote into it besides us."""

from typing import Any

import pytest

from api.objects import KubeObject
from olm_rollout.managed_fields import Held, taken_fields, written_by_others

OURS = "applier"
Fields = dict[str, Any]


def live(**managers: Fields) -> KubeObject:
    """Metadata in which each manager has set fields; `ours` are we."""
    return {
        "metadata": {
            "managedFields": [
                {"manager": OURS if manager == "ours" else manager, "fieldsV1": fields}
                for manager, fields in managers.items()
            ]
        }
    }


A: Fields = {"f:data": {"f:a": {}}}
AB: Fields = {"f:data": {"f:a": {}, "f:b": {}}}
B: Fields = {"f:data": {"f:b": {}}}
ITEM = 'k:{"name":"manager"}'
PORT = 'k:{"containerPort":8443,"protocol":"TCP"}'


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        pytest.param(live(ours=AB), set(), id="nothing"),
        pytest.param(live(ours=B, rival=A), {("rival", "data.a")}, id="a field"),
        pytest.param(live(ours=B), {("", "data.a")}, id="a field that somebody removed"),
        pytest.param(
            live(ours=B, rival={"f:data": {}}),
            {("rival", "data.a")},
            id="with what it is a part of",
        ),
        pytest.param(live(rival=AB), {("rival", "data.a"), ("rival", "data.b")}, id="everything"),
    ],
)
def test_who_took_which_field(before: KubeObject, expected: set[tuple[str, str]]) -> None:
    assert taken_fields(before, live(ours=AB), OURS) == {Held(*each) for each in expected}


def test_an_item_of_a_list_is_named_as_a_whole() -> None:
    item: Fields = {ITEM: {".": {}, "f:name": {}, "f:ports": {PORT: {".": {}, "f:name": {}}}}}
    ours = live(ours={"f:spec": {"f:containers": item}})
    assert taken_fields(live(ours={}), ours, OURS) == {Held("", "spec.containers[manager]")}
    whole: Fields = {ITEM: {".": {}, "f:name": {}, "f:ports": {}}}
    before = live(ours={"f:spec": {"f:containers": whole}})
    path = "spec.containers[manager].ports[8443/TCP]"
    assert taken_fields(before, ours, OURS) == {Held("", path)}


NOTES: Fields = {"f:metadata": {"f:annotations": {".": {}, "f:default": {}}}}
HOLDS: Fields = {"f:metadata": {"f:finalizers": {".": {}, 'v:"x"': {}}, "f:ownerReferences": {}}}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(live(ours=AB), set(), id="nobody else"),
        pytest.param(live(ours=AB, rival=A), set(), id="what we apply as well"),
        pytest.param(
            live(ours=A, rival={"f:data": {".": {}, "f:b": {}}}), {("rival", "data.b")}, id="a key"
        ),
        pytest.param(
            live(ours=A, rival=NOTES), {("rival", "metadata.annotations.default")}, id="a note"
        ),
        pytest.param(live(ours=A, rival=HOLDS), set(), id="what holds it or owns it"),
    ],
)
def test_what_others_wrote(found: KubeObject, expected: set[tuple[str, str]]) -> None:
    assert written_by_others(found, OURS) == {Held(*each) for each in expected}


def test_a_status_is_nothing_that_is_lost() -> None:
    entry = {"manager": "controller", "subresource": "status", "fieldsV1": {"f:status": {}}}
    assert not written_by_others({"metadata": {"managedFields": [entry]}}, OURS)
