"""Which Events of many are written."""

from api.objects import KubeObject
from olm_runtime.controller.event_limit import BURST, MOST_KEYS, SECONDS_EACH, EventLimit


def plan(name: str) -> KubeObject:
    return {"kind": "InstallPlan", "metadata": {"namespace": "team", "name": name}}


def test_ten_of_a_reason_and_then_one_every_five_minutes() -> None:
    limit = EventLimit()
    assert [limit.allows(plan("one"), "Failed", 0.0) for _ in range(BURST + 1)].count(True) == BURST
    assert limit.allows(plan("one"), "Other", 0.0)
    assert limit.allows(plan("two"), "Failed", 0.0)
    assert not limit.allows(plan("one"), "Failed", SECONDS_EACH - 1)
    assert limit.allows(plan("one"), "Failed", SECONDS_EACH)
    assert not limit.allows(plan("one"), "Failed", SECONDS_EACH + 1)
    long_after = 100 * BURST * SECONDS_EACH
    assert [limit.allows(plan("one"), "Failed", long_after) for _ in range(30)].count(True) == BURST


def test_what_is_remembered_is_bounded() -> None:
    limit = EventLimit()
    for _ in range(BURST):
        assert limit.allows(plan("first"), "Failed", 0.0)
    for number in range(MOST_KEYS - 1):
        limit.allows(plan(f"p{number}"), "Failed", 0.0)
    assert not limit.allows(plan("first"), "Failed", 0.0)
    for number in range(MOST_KEYS):
        limit.allows(plan(f"q{number}"), "Failed", 0.0)
    assert limit.allows(plan("first"), "Failed", 0.0)


def test_what_may_have_all_of_its_events_again_is_forgotten() -> None:
    """Else each object that comes and goes would leave its names behind."""
    limit = EventLimit()
    for _ in range(BURST):
        limit.allows(plan("often"), "Failed", 0.0)
    for number in range(1000):
        limit.allows(plan(f"p{number}"), "Failed", number)
    assert limit.remembered < 2 * SECONDS_EACH
    limit.allows(plan("last"), "Failed", 1000 + SECONDS_EACH)
    assert limit.remembered == len(["often", "last"])
