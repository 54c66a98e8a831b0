"""Statuses that follow on each other."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from api.objects import condition
from cluster_version.decisions.acceptance import Retrieved, begun, judged
from cluster_version.decisions.target import Target
from cluster_version.decisions.validation import FieldError
from cluster_version.payload.capabilities import ClusterCapabilities
from cluster_version.payload.contents import Payload
from cluster_version.payload.release import Release
from cluster_version.status.whole import WorkerState, status_after, with_metadata

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RELEASE = Release("1.0.0", "example.com/release@sha256:1")
CAPABILITIES = ClusterCapabilities(frozenset({"a", "b"}), frozenset({"b"}), frozenset())
STATE = WorkerState(release=RELEASE, hash="h", capabilities=CAPABILITIES, generation=3)


def fields_of(status: dict[str, Any], kind: str) -> tuple[Any, ...]:
    found = condition({"status": status}, kind) or {}
    return tuple(found.get(key) for key in ("status", "reason", "message"))


def test_an_installation_ends_completed() -> None:
    first = status_after({}, STATE, NOW)
    assert first["desired"] == {"version": "1.0.0", "image": RELEASE.image}
    assert first["availableUpdates"] is None
    assert first["capabilities"] == {"enabledCapabilities": ["b"], "knownCapabilities": ["a", "b"]}
    assert (first["observedGeneration"], first["versionHash"]) == (3, "h")
    assert [each["state"] for each in first["history"]] == ["Partial"]
    assert fields_of(first, "Available") == ("False", None, None)
    level = replace(STATE, completed=1, reconciling=True)
    second = status_after(first, level, NOW + timedelta(hours=1))
    [entry] = second["history"]
    assert (entry["state"], entry["completionTime"]) == ("Completed", "2026-01-01T01:00:00Z")
    assert fields_of(second, "Available") == ("True", None, "Done applying 1.0.0")
    assert fields_of(second, "Progressing") == ("False", None, "Cluster version is 1.0.0")
    assert status_after(second, level, NOW + timedelta(hours=2)) == second


def test_what_others_wrote_of_updates_stays() -> None:
    before = {
        "availableUpdates": [{"version": "2.0.0", "image": "i"}],
        "conditions": [{"type": "RetrievedUpdates", "status": "True", "lastTransitionTime": "t"}],
    }
    after = status_after(before, STATE, NOW)
    assert after["availableUpdates"] == before["availableUpdates"]
    assert after["conditions"][0] == {
        "type": "RetrievedUpdates",
        "status": "True",
        "lastTransitionTime": "t",
    }


def test_an_accepted_release_has_its_risks_in_the_history() -> None:
    target = Target("1.0.0", RELEASE.image, force=True)
    payload = Payload(RELEASE, "amd64", (), "h")
    accepted = judged(target, Retrieved(risk="not signed"), payload, None).acceptance
    status = status_after({}, replace(STATE, acceptance=accepted), NOW)
    assert status["history"][0]["acceptedRisks"] == "not signed"
    loading = begun(Target("1.0.1", "other")).acceptance
    status = status_after(status, replace(STATE, acceptance=loading), NOW)
    assert fields_of(status, "ReleaseAccepted")[:2] == ("Unknown", "RetrievePayload")


def test_what_is_wrong_with_the_cluster_version_is_reported_while_it_is() -> None:
    faulty = replace(STATE, faults=[FieldError("spec.upstream", "must be a URL", value="x")])
    status = status_after({}, faulty, NOW)
    assert fields_of(status, "Invalid")[:2] == ("True", "InvalidClusterVersion")
    assert condition({"status": status_after(status, STATE, NOW)}, "Invalid") is None


def test_metadata_come_from_whoever_knows_the_image() -> None:
    bare = Release("", "mirror.example.com/release@sha256:1")
    own = replace(bare, version="1.0.0")
    known = [Release("9.9.9", RELEASE.image, "https://example.com", ("a",))]
    found = with_metadata(bare, own, known)
    assert found == Release("1.0.0", bare.image, "https://example.com", ("a",))
    assert with_metadata(Release("1", "a@sha256:2"), own, known) == Release("1", "a@sha256:2")
