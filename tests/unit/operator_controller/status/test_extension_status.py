"""The conditions of a ClusterExtension: the documents' words where they have some."""

from dataclasses import dataclass

import pytest

from api.objects import KubeObject
from api.olm.v1.clusterextension import ClusterExtension
from olm_content.fbc.model import Deprecation
from olm_runtime.outcome import Blocked, Done, Outcome, Retry, Wait
from operator_controller.apply.revisions import Revisions
from operator_controller.apply.suspension import Suspension
from operator_controller.status.extension import ExtensionFacts, extension_status, removing

GROUP = "olm.operatorframework.io"
PREFIX = 'error for resolved bundle "pkg.v1.0.{n}" with version "1.0.{n}": '


def extension(*channels: str, known: tuple[str, ...] = ()) -> ClusterExtension:
    catalog = {"packageName": "pkg", "channels": list(channels)}
    conditions = [
        {
            "type": kind,
            "status": "False",
            "reason": "Deprecated",
            "message": "",
            "lastTransitionTime": "2025-01-01T00:00:00Z",
        }
        for kind in known
    ]
    return ClusterExtension.from_object(
        {
            "apiVersion": f"{GROUP}/v1",
            "kind": "ClusterExtension",
            "metadata": {"name": "ext", "generation": 7},
            "spec": {
                "namespace": "ns",
                "serviceAccount": {"name": "installer"},
                "source": {"sourceType": "Catalog", "catalog": catalog},
            },
            "status": {"conditions": conditions},
        }
    )


def revision(number: int, **conditions: tuple[str, str, str]) -> KubeObject:
    """A revision of version 1.0.<number> with conditions by type."""
    reported = [
        {
            "type": kind,
            "status": status,
            "reason": reason,
            "message": message,
            "lastTransitionTime": "2025-01-01T00:00:00Z",
        }
        for kind, (status, reason, message) in conditions.items()
    ]
    notes = {
        f"{GROUP}/bundle-name": f"pkg.v1.0.{number}",
        f"{GROUP}/bundle-version": f"1.0.{number}",
        f"{GROUP}/bundle-reference": f"registry/pkg:v{number}",
        f"{GROUP}/package-name": "pkg",
    }
    return {
        "metadata": {"name": f"ext-{number}", "annotations": notes},
        "spec": {"revision": number, "lifecycleState": "Active"},
        "status": {"conditions": reported},
    }


ROLLED_OUT = ("True", "Succeeded", "Revision 1.0.1 has rolled out.")
LATCH = ("True", "Succeeded", "Revision succeeded rolling out.")
WELL = ("True", "ProbesSucceeded", "Objects are available and pass all probes.")
INSTALLED = revision(1, Progressing=ROLLED_OUT, Succeeded=LATCH, Available=WELL)
ROLLING = ("True", "RollingOut", "Revision 1.0.2 is rolling out.")
FAILING = ("True", "Retrying", "no")


@dataclass(frozen=True)
class Reported:
    conditions: dict[str, tuple[str, str, str]]
    install: str | None
    active: dict[str, list[str]]


def reported(
    *revisions: KubeObject,
    outcome: Outcome | None = None,
    read: bool = True,
    deprecations: tuple[Deprecation, ...] | None = (),
    of: ClusterExtension | None = None,
    suspension: Suspension | None = None,
) -> Reported:
    facts = ExtensionFacts(
        of or extension(),
        outcome or Done(),
        Revisions.of(revisions) if read else None,
        deprecations,
        suspension=suspension,
    )
    status = extension_status(facts)
    assert all(c.observed_generation == 7 for c in status.conditions)
    return Reported(
        {c.type: (c.status, c.reason, c.message) for c in status.conditions},
        status.install.bundle.version if status.install else None,
        {r.name: [c.type for c in r.conditions] for r in status.active_revisions},
    )


@pytest.mark.parametrize(
    ("found", "expected", "version"),
    [
        pytest.param(
            reported(INSTALLED),
            ("True", "Succeeded", "Installed bundle registry/pkg:v1 successfully"),
            "1.0.1",
            id="installed",
        ),
        pytest.param(
            reported(INSTALLED, revision(2, Progressing=FAILING)),
            ("True", "Succeeded", "Installed bundle registry/pkg:v1 successfully"),
            "1.0.1",
            id="a failing update does not disturb what is installed",
        ),
        pytest.param(
            reported(INSTALLED, outcome=Retry("no bundles found")),
            ("True", "Succeeded", "Installed bundle registry/pkg:v1 successfully"),
            "1.0.1",
            id="a failing resolution does not disturb what is installed",
        ),
        pytest.param(reported(), ("False", "Failed", "No bundle installed"), None, id="nothing"),
        pytest.param(
            reported(revision(2, Progressing=FAILING)),
            ("False", "Failed", "No bundle installed"),
            None,
            id="the first one fails",
        ),
        pytest.param(
            reported(revision(2, Progressing=ROLLING)),
            ("False", "Absent", "No bundle installed"),
            None,
            id="the first one is on its way",
        ),
        pytest.param(
            reported(revision(2)),
            ("False", "Absent", "No bundle installed"),
            None,
            id="the first one has only been made",
        ),
        pytest.param(
            reported(read=False, outcome=Retry("cannot list")),
            ("Unknown", "Failed", "cannot list"),
            None,
            id="nobody knows",
        ),
    ],
)
def test_installed(found: Reported, expected: tuple[str, str, str], version: str | None) -> None:
    assert found.conditions["Installed"] == expected
    assert found.install == version


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(
            reported(INSTALLED), ("True", "Succeeded", "desired state reached"), id="the documents'"
        ),
        pytest.param(
            reported(
                revision(
                    1,
                    Progressing=("True", "Succeeded", f"{ROLLED_OUT[2]}\ncannot watch Role"),
                    Succeeded=LATCH,
                )
            ),
            ("True", "Succeeded", "desired state reached\ncannot watch Role"),
            id="reached, but not watched",
        ),
        pytest.param(
            reported(INSTALLED, outcome=Retry("no bundles found")),
            ("True", "Retrying", "no bundles found"),
            id="what may pass is tried again",
        ),
        pytest.param(
            reported(INSTALLED, outcome=Blocked("InvalidConfiguration", "wrong")),
            ("False", "InvalidConfiguration", "wrong"),
            id="what only a person can mend has its own reason",
        ),
        pytest.param(
            reported(outcome=Blocked("Blocked", "wrong")),
            ("False", "Blocked", "wrong"),
            id="or the common one",
        ),
        pytest.param(
            reported(INSTALLED, revision(2, Progressing=ROLLING)),
            ("True", "RollingOut", "Revision 1.0.2 is rolling out."),
            id="an update on its way",
        ),
        pytest.param(
            reported(revision(2)),
            ("True", "RollingOut", "Revision 1.0.2 is rolling out."),
            id="a revision that nobody looked at yet",
        ),
        pytest.param(
            reported(INSTALLED, revision(2, Progressing=FAILING)),
            ("True", "Retrying", f"{PREFIX.format(n=2)}no"),
            id="the error of a revision names its bundle",
        ),
        pytest.param(
            reported(revision(2, Progressing=("False", "Blocked", "no"))),
            ("False", "Blocked", f"{PREFIX.format(n=2)}no"),
            id="so does what blocks it",
        ),
        pytest.param(
            reported(revision(2, Progressing=("False", "ProgressDeadlineExceeded", "late"))),
            ("False", "ProgressDeadlineExceeded", "late"),
            id="a deadline speaks for itself",
        ),
        pytest.param(
            reported(INSTALLED, outcome=Wait(1.0, "wait for it")),
            ("True", "RollingOut", "wait for it"),
            id="a wait that says for what",
        ),
    ],
)
def test_progressing(found: Reported, expected: tuple[str, str, str]) -> None:
    assert found.conditions["Progressing"] == expected


QUIET = ("Unknown", "Suspended", "suspended\nConfigMap ns/a is missing")
WAY_ON = "hint: to go on: olm resume ext"


@pytest.mark.parametrize(
    ("revisions", "expected"),
    [
        pytest.param([], ("Unknown", "Suspended", f"suspended: why\n{WAY_ON}"), id="nothing yet"),
        pytest.param(
            [revision(1, Progressing=QUIET, Succeeded=LATCH)],
            ("Unknown", "Suspended", f"suspended: why\nConfigMap ns/a is missing\n{WAY_ON}"),
            id="what others did is told",
        ),
        pytest.param(
            [INSTALLED, revision(2, Progressing=("Unknown", "Suspended", "suspended"))],
            (
                "True",
                "RollingOut",
                "is being suspended: ext-1 may still be reconciled",
            ),
            id="not while a revision may be at work",
        ),
        pytest.param(
            [revision(2, Progressing=("Unknown", "Suspended", "suspended"))],
            (
                "Unknown",
                "Suspended",
                f"suspended: why\npkg.v1.0.2 (revision ext-2) has not rolled out\n{WAY_ON}",
            ),
            id="in the middle of a rollout",
        ),
    ],
)
def test_suspended(revisions: list[KubeObject], expected: tuple[str, str, str]) -> None:
    found = reported(*revisions, suspension=Suspension("why"))
    assert found.conditions["Progressing"] == expected


def test_after_a_suspension_the_revision_is_to_be_reconciled_first() -> None:
    resumed = reported(revision(1, Progressing=QUIET, Succeeded=LATCH))
    assert resumed.conditions["Progressing"][1] == "RollingOut"
    assert resumed.install == "1.0.1"


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        pytest.param(Done(), ("True", "Retrying", ""), id="all else is done"),
        pytest.param(Retry("no bundles"), ("True", "Retrying", "no bundles\n"), id="more failed"),
        pytest.param(Blocked("Blocked", "no"), ("False", "Blocked", "no\n"), id="more is blocked"),
    ],
)
def test_what_a_replaced_revision_left_is_reported(
    outcome: Outcome, expected: tuple[str, str, str]
) -> None:
    left = revision(1, Progressing=("True", "Retrying", "may not delete Role r"))
    left["spec"]["lifecycleState"] = "Archived"
    update = revision(2, Progressing=ROLLED_OUT, Succeeded=LATCH)
    status, reason, begin = expected
    assert reported(left, update, outcome=outcome).conditions["Progressing"] == (
        status,
        reason,
        (
            f"{begin}what only revision ext-1 had is not removed: may not delete Role r\n"
            "hint: to leave its objects as they are, delete the revision: "
            "kubectl delete clusterobjectset ext-1"
        ),
    )


def test_available_is_what_the_installed_revision_says() -> None:
    assert reported(INSTALLED).conditions["Available"] == WELL
    broken = ("False", "ProbeFailure", "Deployment ns/x: 0/1 available")
    update = revision(2, Progressing=ROLLING, Available=broken)
    assert reported(INSTALLED, update).conditions["Available"] == WELL
    assert reported(update).conditions["Available"] == broken
    assert "Available" not in reported().conditions


def test_active_revisions_report_conditions_until_they_have_succeeded() -> None:
    found = reported(INSTALLED, revision(2, Progressing=ROLLING, Available=WELL))
    assert found.active == {"ext-1": [], "ext-2": ["Progressing", "Available"]}


DEPRECATIONS = (
    Deprecation("olm.package", "", "the package goes"),
    Deprecation("olm.channel", "stable", "the channel goes"),
    Deprecation("olm.channel", "alpha", "alpha goes"),
    Deprecation("olm.bundle", "pkg.v1.0.1", "the bundle goes"),
    Deprecation("olm.bundle", "pkg.v1.0.9", "another goes"),
)
KINDS = ("Deprecated", "PackageDeprecated", "ChannelDeprecated", "BundleDeprecated")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(
            reported(INSTALLED, deprecations=DEPRECATIONS, of=extension("stable")),
            [
                ("True", "Deprecated", "the package goes\nthe channel goes\nthe bundle goes"),
                ("True", "Deprecated", "the package goes"),
                ("True", "Deprecated", "the channel goes"),
                ("True", "Deprecated", "the bundle goes"),
            ],
            id="what concerns it",
        ),
        pytest.param(
            reported(INSTALLED),
            [("False", "Deprecated", "")] * 4,
            id="nothing goes: the reason is Deprecated all the same",
        ),
        pytest.param(
            reported(INSTALLED, deprecations=(Deprecation("olm.package", "", ""),)),
            [("False", "Deprecated", "")] * 4,
            id="an empty message says nothing",
        ),
        pytest.param(
            reported(deprecations=DEPRECATIONS, of=extension("beta")),
            [
                ("True", "Deprecated", "the package goes"),
                ("True", "Deprecated", "the package goes"),
                ("False", "Deprecated", ""),
                ("Unknown", "Absent", "no bundle installed yet"),
            ],
            id="nothing is installed",
        ),
        pytest.param(
            reported(deprecations=None),
            [
                (
                    "Unknown",
                    "DeprecationStatusUnknown",
                    "deprecation status unknown: catalog data unavailable",
                )
            ]
            * 4,
            id="nobody knows yet",
        ),
    ],
)
def test_deprecations(found: Reported, expected: list[tuple[str, str, str]]) -> None:
    assert [found.conditions[kind] for kind in KINDS] == expected


def test_without_catalogs_what_was_known_stays() -> None:
    found = reported(INSTALLED, deprecations=None, of=extension(known=KINDS))
    assert not set(KINDS) & set(found.conditions)


def test_a_deleted_extension_reports_what_holds_its_revisions_and_for_how_long() -> None:
    held = revision(1, Progressing=("True", "Retrying", "x waits"))
    quiet = revision(2, Progressing=("True", "Succeeded", "an old word"))
    found = removing(Revisions.of([held, quiet]).every, 7, 600)
    assert found is not None
    assert (found.status, found.reason, found.observed_generation) == ("True", "Retrying", 7)
    assert found.message == (
        "x waits\nafter 10 minutes of removing the rest is left to garbage collection"
    )
    assert removing(Revisions.of([quiet]).every, 7, 600) is None
