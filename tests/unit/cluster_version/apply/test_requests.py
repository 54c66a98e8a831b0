"""What is asked of the API server for a manifest."""

from typing import Any

import pytest

from cluster_version.apply.deletions import Deletions
from cluster_version.apply.requests import Request, Verb, owned, request_for
from cluster_version.names import CREATE_ONLY, DELETE
from cluster_version.payload.task_graph import State
from olm_runtime.errors import TerminalError

Json = dict[str, Any]


def config_map(annotations: Json | None = None, **data: str) -> Json:
    meta = {"name": "x", "namespace": "ns", "annotations": annotations or {}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


def verb(manifest: Json, live: Json | None, state: State = State.UPDATING) -> str | None:
    request = request_for(manifest, live, state)
    return request.verb.value if request else None


def test_what_is_absent_is_created_as_it_is() -> None:
    manifest = config_map(a="1")
    assert request_for(manifest, None, State.UPDATING) == Request(Verb.CREATE, manifest)


def test_what_differs_is_updated_and_what_is_right_left_alone() -> None:
    assert verb(config_map(a="1"), config_map(a="2")) == "update"
    assert verb(config_map(a="1"), config_map(a="1", b="2")) is None


def test_what_is_only_created_is_not_looked_at_again() -> None:
    manifest = config_map({CREATE_ONLY: "True"}, a="1")
    assert verb(manifest, config_map(a="2")) is None
    assert verb(manifest, None) == "create"


@pytest.mark.parametrize("state", State)
def test_only_an_update_deletes(state: State) -> None:
    manifest = config_map({DELETE: "true"})
    assert verb(manifest, config_map(), state) == ("delete" if state is State.UPDATING else None)
    assert verb(manifest, None, state) is None


def test_an_annotation_that_says_neither_is_reported() -> None:
    with pytest.raises(TerminalError) as caught:
        verb(config_map({DELETE: "yes"}), None)
    assert caught.value.message == (
        'Invalid delete annotation "release.openshift.io/delete" value: "yes"'
    )


@pytest.mark.parametrize("state", State)
def test_cluster_operators_are_only_reconciled(state: State) -> None:
    live = {
        "apiVersion": "config.openshift.io/v1",
        "kind": "ClusterOperator",
        "metadata": {"name": "x"},
    }
    manifest = live | {"metadata": {"name": "x", "labels": {"a": "b"}}}
    assert verb(manifest, live, state) == ("update" if state is State.RECONCILING else None)
    assert verb(manifest, None, state) == "create"


# --- owners ----------------------------------------------------------------------------------

OWNER = {
    "apiVersion": "config.openshift.io/v1",
    "kind": "ClusterVersion",
    "name": "version",
    "uid": "u",
}
OTHER = {"apiVersion": "v1", "kind": "Other", "name": "o", "uid": "o"}


@pytest.mark.parametrize(
    ("named", "annotations", "owners"),
    [
        ([], {}, [{**OWNER, "controller": True}]),
        ([], {CREATE_ONLY: "true"}, [OWNER]),
        ([{**OWNER, "uid": "old"}], {}, [{**OWNER, "controller": True}]),
        ([OTHER], {}, [OTHER]),
        ([OTHER, OWNER], {}, [OTHER]),
    ],
)
def test_the_cluster_version_owns_what_names_no_other_owner(
    named: list[Json], annotations: Json, owners: list[Json]
) -> None:
    manifest = config_map(annotations)
    manifest["metadata"]["ownerReferences"] = named
    assert owned(manifest, "u")["metadata"]["ownerReferences"] == owners
    assert manifest["metadata"]["ownerReferences"] == named


# --- deletions -------------------------------------------------------------------------------


def test_a_deletion_is_in_progress_until_the_object_is_gone_for_once() -> None:
    deletions, manifest = Deletions(), config_map({DELETE: "true"})
    assert not deletions.is_known(manifest)
    deletions.asked(manifest)
    deletions.seen(manifest, config_map())
    assert deletions.in_progress() == ('ConfigMap "ns/x"',)
    deletions.seen(manifest, None)
    deletions.seen(manifest, config_map())
    assert deletions.in_progress() == ()
    assert deletions.is_known(manifest)
