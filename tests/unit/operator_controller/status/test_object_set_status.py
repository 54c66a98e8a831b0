"""The conditions of a ClusterObjectSet, in upstream's words."""

from dataclasses import replace

import pytest

from api.conditions import Condition
from olm_rollout.progress import Progress
from olm_runtime.outcome import Blocked, Done, Retry, Wait
from operator_controller.status.object_set import (
    MAX_LINES,
    RevisionFacts,
    revision_conditions,
)

FACTS = RevisionFacts(
    version="1.2.3",
    generation=4,
    archived=False,
    progress=Progress(),
    outcome=Done(),
    succeeded_before=False,
)
DONE = replace(FACTS, progress=Progress(complete=True))
ARCHIVED = replace(FACTS, archived=True, succeeded_before=True)
DRIFTED = Progress(complete=True, drifted=("ConfigMap a/b is missing",))
REMOVING = "removing revision resources that are not owned by another revision"


def reported(facts: RevisionFacts) -> dict[str, tuple[str, str, str]]:
    found: tuple[Condition, ...] = revision_conditions(facts)
    assert all(c.observed_generation == 4 for c in found)
    return {c.type: (c.status, c.reason, c.message) for c in found}


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param(
            FACTS, ("True", "RollingOut", "Revision 1.2.3 is rolling out."), id="on its way"
        ),
        pytest.param(
            replace(FACTS, outcome=Wait(1.0, "an object is still being removed")),
            ("True", "RollingOut", "an object is still being removed"),
            id="waiting for something with a name",
        ),
        pytest.param(
            replace(FACTS, outcome=Wait(1.0), progress=Progress(waiting=("a",))),
            ("True", "RollingOut", "Revision 1.2.3 is rolling out."),
            id="waiting for a phase",
        ),
        pytest.param(replace(FACTS, outcome=Retry("no")), ("True", "Retrying", "no"), id="failing"),
        pytest.param(
            replace(FACTS, outcome=Blocked("Blocked", "no")),
            ("False", "Blocked", "no"),
            id="stopped until somebody acts",
        ),
        pytest.param(
            DONE, ("True", "Succeeded", "Revision 1.2.3 has rolled out."), id="rolled out"
        ),
        pytest.param(
            replace(DONE, progress=Progress(complete=True, contended=("ConfigMap a/b: x",))),
            ("True", "Retrying", "ConfigMap a/b: x"),
            id="others keep taking an object over",
        ),
        pytest.param(
            replace(DONE, progress=Progress(complete=True, degraded=("cannot watch A",))),
            ("True", "Succeeded", "Revision 1.2.3 has rolled out.\ncannot watch A"),
            id="rolled out but not watched",
        ),
        pytest.param(
            replace(ARCHIVED, outcome=Wait(1.0, REMOVING)),
            ("True", "Retrying", REMOVING),
            id="being taken down",
        ),
        pytest.param(ARCHIVED, ("False", "Archived", "revision is archived"), id="archived"),
        pytest.param(
            replace(DONE, suspended="suspended: why", progress=DRIFTED, overdue_minutes=1),
            ("Unknown", "Suspended", "suspended: why\nConfigMap a/b is missing"),
            id="suspended, and never late",
        ),
        pytest.param(
            replace(ARCHIVED, suspended="suspended", outcome=Retry("no")),
            ("Unknown", "Suspended", "suspended\nno"),
            id="suspended, and something cannot be read",
        ),
    ],
)
def test_progressing(facts: RevisionFacts, expected: tuple[str, str, str]) -> None:
    assert reported(facts)["Progressing"] == expected


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param(
            FACTS, ("False", "RollingOut", "Revision 1.2.3 is rolling out."), id="on its way"
        ),
        pytest.param(
            replace(FACTS, progress=Progress(waiting=("b", "a"))),
            ("False", "ProbeFailure", "a\nb"),
            id="a phase that is waited for",
        ),
        pytest.param(
            replace(DONE, progress=Progress(complete=True, unhealthy=("x: 0/1 available",))),
            ("False", "ProbeFailure", "x: 0/1 available"),
            id="applied, but an object does not work",
        ),
        pytest.param(
            DONE,
            ("True", "ProbesSucceeded", "Objects are available and pass all probes."),
            id="all is well",
        ),
        pytest.param(
            replace(FACTS, outcome=Retry("no")), ("Unknown", "Reconciling", "no"), id="failing"
        ),
        pytest.param(
            replace(FACTS, outcome=Blocked("Blocked", "no")),
            ("Unknown", "Reconciling", "no"),
            id="stopped",
        ),
        pytest.param(ARCHIVED, ("Unknown", "Archived", "revision is archived"), id="archived"),
    ],
)
def test_available(facts: RevisionFacts, expected: tuple[str, str, str]) -> None:
    assert reported(facts)["Available"] == expected


@pytest.mark.parametrize(
    ("facts", "there"),
    [
        pytest.param(FACTS, False, id="not before"),
        pytest.param(DONE, True, id="once it rolled out"),
        pytest.param(
            replace(FACTS, succeeded_before=True, outcome=Retry("no")), True, id="never taken back"
        ),
        pytest.param(ARCHIVED, True, id="nor by archiving"),
        pytest.param(
            replace(ARCHIVED, succeeded_before=False), False, id="archiving is no success"
        ),
    ],
)
def test_succeeded_is_a_latch(facts: RevisionFacts, *, there: bool) -> None:
    expected = ("True", "Succeeded", "Revision succeeded rolling out.") if there else None
    assert reported(facts).get("Succeeded") == expected


def test_a_long_list_is_cut_and_counted() -> None:
    many = tuple(f"{i:03}" for i in range(MAX_LINES + 5))
    message = reported(replace(FACTS, progress=Progress(unhealthy=many)))["Available"][2]
    lines = message.split("\n")
    assert lines == [*many[:MAX_LINES], "and 5 more"]


LATE = replace(FACTS, overdue_minutes=10)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param(
            LATE,
            "Revision has not rolled out for 10 minute(s). "
            "Last status: Revision 1.2.3 is rolling out.",
            id="rolling out",
        ),
        pytest.param(
            replace(LATE, outcome=Retry("no")),
            "Revision has not rolled out for 10 minute(s). Last status: no",
            id="failing",
        ),
    ],
)
def test_a_deadline_that_passed_is_reported_with_what_was_last_known(
    facts: RevisionFacts, expected: str
) -> None:
    assert reported(facts)["Progressing"] == ("False", "ProgressDeadlineExceeded", expected)


def test_what_is_blocked_or_done_stays_so_after_the_deadline() -> None:
    assert reported(replace(LATE, outcome=Blocked("Blocked", "no")))["Progressing"][1] == "Blocked"
    done = replace(LATE, progress=Progress(complete=True))
    assert reported(done)["Progressing"][:2] == ("True", "Succeeded")


def test_a_set_that_is_being_deleted_reports_what_holds_it() -> None:
    found = reported(replace(FACTS, leaving=True, outcome=Wait(1.0, "x waits")))
    assert found["Progressing"] == ("True", "Retrying", "x waits")
    assert found["Available"] == ("Unknown", "Reconciling", "x waits")
