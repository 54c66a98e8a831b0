"""Components that are where a release has them, and those that are not."""

from typing import Any

import pytest

from api.objects import KubeObject
from cluster_version.errors import Effect, UpdateError
from cluster_version.health.operators import judge
from cluster_version.payload.task_graph import State

INSTALL, UPDATE, KEEP = State.INITIALIZING, State.UPDATING, State.RECONCILING


def operator(*versions: str, **conditions: str) -> KubeObject:
    """A ClusterOperator; `versions` as `name=version`."""
    listed = [dict(zip(("name", "version"), each.split("="), strict=True)) for each in versions]
    listed_conditions = [{"type": kind, "status": status} for kind, status in conditions.items()]
    status: dict[str, Any] = {"versions": listed, "conditions": listed_conditions}
    return {"kind": "ClusterOperator", "metadata": {"name": "alpha"}, "status": status}


WELL = {"Available": "True", "Degraded": "False", "Progressing": "False"}


@pytest.mark.parametrize(
    ("live", "state", "reason", "effect"),
    [
        (operator("operator=2", **WELL), UPDATE, None, None),
        (operator("operator=2", **{**WELL, "Progressing": "True"}), UPDATE, None, None),
        (operator("operator=1", **WELL), UPDATE, "Updating", Effect.NONE),
        (operator("operator=3", **WELL), KEEP, "Updating", Effect.NONE),
        (operator(**WELL), UPDATE, "Updating", Effect.NONE),
        (operator("operator=1", **WELL), INSTALL, None, None),
        (operator("operator=2"), UPDATE, "NotAvailable", Effect.FAIL),
        (operator("operator=2"), INSTALL, "NotAvailable", Effect.FAIL),
        (operator("operator=2", Available="True"), UPDATE, "Degraded", Effect.FAIL_AFTER_INTERVAL),
        (operator("operator=2", Available="True"), INSTALL, "Degraded", Effect.REPORT),
    ],
)
def test_a_component_is_judged_by_its_first_fault(
    live: KubeObject, state: State, reason: str | None, effect: Effect | None
) -> None:
    if reason is None:
        judge(operator("operator=2"), live, state)
        return
    with pytest.raises(UpdateError) as raised:
        judge(operator("operator=2"), live, state)
    assert raised.value.reason == f"ClusterOperator{reason}"
    assert raised.value.effect is effect
    assert raised.value.name == "alpha"


def test_a_release_that_names_no_versions_never_gets_there() -> None:
    with pytest.raises(UpdateError, match="alpha does not declare expected versions"):
        judge(operator(), operator("operator=2", **WELL), UPDATE)


def test_every_version_counts() -> None:
    wanted = operator("operator=2", "operand=5", "new=1")
    with pytest.raises(UpdateError) as raised:
        judge(wanted, operator("operator=2", "operand=4", Available="True"), UPDATE)
    assert raised.value.detail == (
        "cluster operator alpha: available=true, progressing=true, degraded=true, "
        "undone=new to 1, operand from 4 to 5"
    )
