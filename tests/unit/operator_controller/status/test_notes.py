"""Remarks on the choice, below the sentence of the condition Progressing."""

from api.olm.v1.clusterextension import ClusterExtension
from olm_runtime.outcome import Done, Retry
from operator_controller.resolve import Note, NoteKind
from operator_controller.status.extension import ExtensionFacts, extension_status

EXTENSION = ClusterExtension.from_object(
    {
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterExtension",
        "metadata": {"name": "ext"},
        "spec": {
            "namespace": "ns",
            "source": {"sourceType": "Catalog", "catalog": {"packageName": "p"}},
        },
    }
)
PRERELEASE = Note(kind=NoteKind.PRERELEASE_WITHOUT_RANGE, catalog="c", bundle="p.v2.0.0-rc.1")
UNASKED = Note(kind=NoteKind.INCOMPLETE_VIEW, catalog="d", detail="connection 17 was refused")


def progressing(facts: ExtensionFacts) -> str:
    (found,) = [c for c in extension_status(facts).conditions if c.type == "Progressing"]
    return found.message


def test_a_prerelease_that_was_taken_without_a_range_is_noted() -> None:
    reported = progressing(ExtensionFacts(EXTENSION, Done(), notes=(PRERELEASE,)))
    assert reported == (
        "waiting for the first revision\n"
        "note: p.v2.0.0-rc.1 is a prerelease; no version range is given, and only a range keeps "
        "prereleases out, such as >=0"
    )


def test_what_differs_from_try_to_try_is_not_reported() -> None:
    reported = progressing(ExtensionFacts(EXTENSION, Done(), notes=(UNASKED,)))
    assert reported == "waiting for the first revision"


def test_a_failure_stands_alone() -> None:
    assert progressing(ExtensionFacts(EXTENSION, Retry("no"), notes=(PRERELEASE,))) == "no"
