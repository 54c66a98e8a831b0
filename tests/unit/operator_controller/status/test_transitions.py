"""Which changes of an extension's status are Events, and which are not."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from api.conditions import Condition, ConditionStatus
from api.olm.v1.clusterextension import (
    BundleMetadata,
    ClusterExtensionStatus,
    InstallStatus,
    RevisionStatus,
)
from operator_controller.apply.revisions import BundleIdentity
from operator_controller.status.transitions import RULES, transitions

EMPTY = ClusterExtensionStatus()


def bundle(version: str) -> BundleIdentity:
    return BundleIdentity(name=f"p.v{version}", version=version, package="p", image="i")


def status(*conditions: str, version: str = "", active: str = "") -> ClusterExtensionStatus:
    """Conditions as `Type Status Reason message`, the installed version, active revisions."""
    read = (text.split(" ", 3) for text in conditions)
    made = tuple(
        Condition(type=kind, status=ConditionStatus(state), reason=reason, message=message)
        for kind, state, reason, message in read
    )
    installed = BundleMetadata(name=f"p.v{version}", version=version)
    return ClusterExtensionStatus(
        conditions=made,
        install=InstallStatus(bundle=installed) if version else None,
        active_revisions=tuple(RevisionStatus(name=n, conditions=()) for n in active.split()),
    )


GOOD = "Progressing True Succeeded desired state reached"
ROLLING = "Progressing True RollingOut Revision 1.0.0 is rolling out."
NO_NET = "Progressing True Retrying no network"
NO_NAME = "Progressing True Retrying no such host"
BLOCKED = "Progressing False Blocked set it"
LATE = "Progressing False ProgressDeadlineExceeded late"
SUSPENDED = "Progressing Unknown Suspended suspended: why"
UP = "Available True ProbesSucceeded well"
DOWN = "Available False ProbeFailure Deployment a/b: 0/1 available"
STILL_DOWN = "Available False ProbeFailure Deployment a/b: 1/3 available"
UNSURE = "Available Unknown Reconciling no network"
OLD = "Deprecated True Deprecated use another"
OLDER = "Deprecated True Deprecated use another soon"
NEW = "Deprecated False Deprecated "
LOST = "Installed Unknown Failed cannot read"
ABSENT = "Installed False Failed No bundle installed"


@pytest.mark.parametrize(
    ("before", "after", "latest", "reported"),
    [
        pytest.param(EMPTY, status(ROLLING, active="e-1"), "1.0.0", "Installing", id="first"),
        pytest.param(
            status(ROLLING, active="e-1"),
            status(GOOD, version="1.0.0", active="e-1"),
            "1.0.0",
            "Installed",
            id="installed, and not also reported to have succeeded",
        ),
        pytest.param(
            EMPTY, status(GOOD, version="1.0.0", active="e-1"), "1.0.0", "Installed", id="at once"
        ),
        pytest.param(
            status(GOOD, version="1.0.0", active="e-1"),
            status(ROLLING, version="1.0.0", active="e-1 e-2"),
            "1.1.0",
            "Updating",
            id="an update begins",
        ),
        pytest.param(
            status(ROLLING, version="1.0.0", active="e-1 e-2"),
            status(GOOD, version="1.1.0", active="e-2"),
            "1.1.0",
            "Updated",
            id="an update is over",
        ),
        pytest.param(
            status(GOOD, version="1.1.0", active="e-2"),
            status(ROLLING, version="1.1.0", active="e-2 e-3"),
            "1.0.0",
            "RollingBack",
            id="back begins",
        ),
        pytest.param(
            status(ROLLING, version="1.1.0", active="e-2 e-3"),
            status(GOOD, version="1.0.0", active="e-3"),
            "1.0.0",
            "RolledBack",
            id="back is over",
        ),
        pytest.param(
            status(GOOD, version="1.0.0", active="e-1"),
            status(ROLLING, version="1.0.0", active="e-1 e-2"),
            "1.0.0",
            "Reconfiguring",
            id="the same bundle anew",
        ),
        pytest.param(
            status(GOOD, version="1.0.0", active="e-1"),
            status(ABSENT),
            "",
            "NotInstalled!",
            id="revisions deleted by hand",
        ),
        pytest.param(
            status(LOST, NO_NET),
            status(GOOD, version="1.0.0", active="e-1"),
            "1.0.0",
            "Succeeded",
            id="revisions that could not be read are no news when they can",
        ),
        pytest.param(
            status(GOOD, version="1.0.0", active="e-1"),
            status(LOST, NO_NET),
            "",
            "Retrying!",
            id="and no removal when they cannot",
        ),
        pytest.param(status(GOOD), status(NO_NET), "", "Retrying!", id="a fault"),
        pytest.param(status(NO_NET), status(NO_NAME), "", "Retrying!", id="another fault"),
        pytest.param(status(NO_NET), status(BLOCKED), "", "Blocked!", id="blocked"),
        pytest.param(status(ROLLING), status(LATE), "", "ProgressDeadlineExceeded!", id="late"),
        pytest.param(status(NO_NET), status(GOOD), "", "Succeeded", id="over"),
        pytest.param(status(NO_NET), status(ROLLING), "", "", id="not over yet"),
        pytest.param(status(GOOD), status(SUSPENDED), "", "Suspended", id="suspended"),
        pytest.param(status(SUSPENDED), status(GOOD), "", "Resumed", id="resumed"),
        pytest.param(
            status(SUSPENDED), status(NO_NET), "", "Resumed Retrying!", id="resumed into a fault"
        ),
        pytest.param(EMPTY, status(UP), "", "Available", id="works at once"),
        pytest.param(EMPTY, status(DOWN), "", "", id="begins"),
        pytest.param(status(DOWN), status(UP), "", "Available", id="works"),
        pytest.param(status(UP), status(DOWN), "", "Unavailable!", id="works no more"),
        pytest.param(status(DOWN), status(STILL_DOWN), "", "", id="other numbers"),
        pytest.param(status(UP), status(UNSURE), "", "", id="nobody knows"),
        pytest.param(EMPTY, status(OLD), "", "Deprecated!", id="deprecated"),
        pytest.param(status(OLD), status(OLDER), "", "Deprecated!", id="deprecated otherwise"),
        pytest.param(status(OLD), status(NEW), "", "NotDeprecated", id="not deprecated any more"),
        pytest.param(EMPTY, status(NEW), "", "", id="not deprecated from the beginning"),
    ],
)
def test_what_is_reported(
    before: ClusterExtensionStatus, after: ClusterExtensionStatus, latest: str, reported: str
) -> None:
    """`!` marks what is a warning."""
    found = transitions(before, after, bundle(latest) if latest else None)
    assert " ".join(h.reason + "!" * h.warning for h in found) == reported
    assert all(h.note for h in found)
    assert transitions(after, after, bundle(latest) if latest else None) == ()


def test_what_only_got_newer_is_not_reported() -> None:
    before = status(GOOD, DOWN, OLD, NO_NET, version="1.0.0", active="e-1")
    time = datetime(2026, 1, 1, tzinfo=UTC)
    newer = tuple(
        replace(c, observed_generation=2, last_transition_time=time) for c in before.conditions
    )
    assert transitions(before, replace(before, conditions=newer), bundle("1.0.0")) == ()


def test_every_part_of_the_status_has_a_rule() -> None:
    names = [rule.__name__ for rule in RULES]
    assert names == [
        "_begun",
        "_installed",
        "_suspended",
        "_progressing",
        "_available",
        "_deprecated",
    ]
