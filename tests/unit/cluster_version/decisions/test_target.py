"""Which release a ClusterVersion asks for."""

from typing import Any

import pytest

from cluster_version.decisions.target import Target, requested, state_for
from cluster_version.payload.task_graph import State

STATUS: dict[str, Any] = {
    "desired": {"version": "1.0.0", "image": "a"},
    "availableUpdates": [
        {"version": "1.0.1", "image": ""},
        {"version": "1.0.1", "image": "b"},
        {"version": "1.0.0", "image": "m"},
    ],
    "history": [{"state": "Completed", "version": "1.0.0", "image": "a"}],
}


def asking(desired: dict[str, Any] | None, **status: Any) -> dict[str, Any]:
    return {"spec": {"desiredUpdate": desired}, "status": {**STATUS, **status}}


@pytest.mark.parametrize(
    ("desired", "target"),
    [
        (None, None),
        ({"version": "7.0.0"}, None),
        ({"version": "1.0.1", "force": True}, Target("1.0.1", "b", force=True)),
        ({"version": "1.0.1", "image": "z"}, Target("1.0.1", "z")),
        ({"image": "z"}, Target("", "z")),
        ({"version": "1.0.1", "architecture": "Multi"}, Target("1.0.0", "m")),
    ],
)
def test_a_version_is_looked_up(desired: dict[str, Any] | None, target: Target | None) -> None:
    assert requested(asking(desired)) == target


def test_once_for_all_architectures_versions_count_again() -> None:
    desired = {"version": "1.0.1", "architecture": "Multi"}
    assert requested(asking(desired), "Multi") == Target("1.0.1", "b")


def test_a_version_of_the_history_is_not_looked_up() -> None:
    assert requested(asking({"version": "1.0.0"}, availableUpdates=None)) is None


@pytest.mark.parametrize(
    ("history", "state"),
    [
        ([], State.INITIALIZING),
        ([{"state": "Partial", "image": "a"}], State.INITIALIZING),
        ([{"state": "Completed", "image": "a"}], State.RECONCILING),
        ([{"state": "Completed", "image": "b"}], State.UPDATING),
        (
            [{"state": "Partial", "image": "a"}, {"state": "Completed", "image": "a"}],
            State.UPDATING,
        ),
    ],
)
def test_the_state_in_which_work_begins(history: list[dict[str, Any]], state: State) -> None:
    assert state_for(asking(None, history=history), Target("1.0.0", "a")) is state
