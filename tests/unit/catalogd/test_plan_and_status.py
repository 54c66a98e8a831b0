"""What a catalog needs, and what its status says."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from api import wire
from api.olm.v1.clustercatalog import ClusterCatalog
from api.olm.v1.names import FINALIZER_DELETE_SERVER_CACHE, LABEL_METADATA_NAME
from catalogd import status
from catalogd.plan import is_wanted, needs_ingest, poll_delay, protection, release
from catalogd.status import Failure
from olm_catalogs.stored import Stored, read_stored

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TAG = "quay.io/org/cat:v1"
CANONICAL = "quay.io/org/cat@sha256:" + "ab" * 32
STORED = Stored(
    version="cd" * 32,
    source=CANONICAL,
    requested=TAG,
    uid="u",
    generation=1,
    unpacked=1_700_000_000,
    polled=1000.0,
)


def catalog(
    *,
    mode: str = "Available",
    poll: int | None = None,
    metadata: dict[str, Any] | None = None,
    conditions: list[dict[str, Any]] | None = None,
) -> ClusterCatalog:
    image = {"ref": TAG, **({"pollIntervalMinutes": poll} if poll else {})}
    return ClusterCatalog.from_object(
        {
            "metadata": {"name": "c", "uid": "u", "generation": 1, **(metadata or {})},
            "spec": {"availabilityMode": mode, "source": {"type": "Image", "image": image}},
            "status": {"conditions": conditions or []},
        }
    )


DELETED = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
OURS = {"finalizers": [FINALIZER_DELETE_SERVER_CACHE, "other/one"]}


@pytest.mark.parametrize(
    ("given", "stored", "now", "asks"),
    [
        (catalog(), None, 0.0, True),
        (catalog(), STORED, 1e9, False),
        (catalog(poll=1), STORED, 1059.0, False),
        (catalog(poll=1), STORED, 1060.0, True),
        (catalog(poll=1), STORED, 1000.0, False),
        (catalog(poll=1), STORED, 999.0, True),
        (catalog(), STORED, 999.0, False),
        (catalog(), replace(STORED, requested="quay.io/org/cat:v0"), 0.0, True),
        (catalog(), replace(STORED, generation=0), 0.0, True),
        (catalog(), replace(STORED, uid="another"), 0.0, True),
    ],
)
def test_when_the_registry_is_asked(
    given: ClusterCatalog, stored: Stored | None, now: float, *, asks: bool
) -> None:
    assert needs_ingest(given, stored, now) is asks


def test_only_available_catalogs_that_stay_are_served() -> None:
    assert is_wanted(catalog())
    assert not is_wanted(catalog(mode="Unavailable"))
    assert not is_wanted(catalog(metadata=DELETED))


@pytest.mark.parametrize(
    ("poll", "now", "jitter", "delay"),
    [
        (None, 0, 0, None),
        (10, 1000, 0, 600),
        (10, 1000, 1, 606),
        (10, 9999, 0, 0),
        (10, 999, 1, 0),
    ],
)
def test_polls_come_after_the_interval_and_at_most_a_hundredth_later(
    poll: int | None, now: float, jitter: float, delay: float | None
) -> None:
    assert poll_delay(catalog(poll=poll), STORED, now=now, jitter=jitter) == delay


def test_the_finalizer_and_the_label_are_added_with_others() -> None:
    given = catalog(metadata={"finalizers": ["other/one"], "labels": {"a": "b"}})
    assert protection(given) == {
        "finalizers": ["other/one", FINALIZER_DELETE_SERVER_CACHE],
        "labels": {LABEL_METADATA_NAME: "c"},
    }
    done = catalog(metadata={**OURS, "labels": {LABEL_METADATA_NAME: "c"}})
    assert protection(done) == {}
    assert release(done) == {"finalizers": ["other/one"]}
    assert release(given) == {}


def test_what_is_not_to_be_served_needs_no_finalizer() -> None:
    assert protection(catalog(mode="Unavailable")) == {}


def conditions(found: Any) -> list[tuple[str, str, str, str]]:
    return [(c.type, str(c.status), c.reason, c.message) for c in found.conditions]


SERVING_TRUE = {
    "type": "Serving",
    "status": "True",
    "reason": "Available",
    "message": "Serving desired content from resolved source",
    "lastTransitionTime": "2025-01-01T00:00:00Z",
}


def test_served() -> None:
    found = status.served(catalog(), STORED, base_url="https://h", now=NOW)
    assert conditions(found) == [
        (
            "Progressing",
            "True",
            "Succeeded",
            "Successfully unpacked and stored content from resolved source",
        ),
        ("Serving", "True", "Available", "Serving desired content from resolved source"),
    ]
    written = wire.write(found)
    assert written["resolvedSource"] == {"type": "Image", "image": {"ref": CANONICAL}}
    assert written["urls"] == {"base": "https://h/catalogs/c"}
    assert written["lastUnpacked"] == "2023-11-14T22:13:20Z"
    assert written["conditions"][0]["observedGeneration"] == 1


def test_a_failed_poll_leaves_the_old_content_serving() -> None:
    given = catalog(conditions=[SERVING_TRUE])
    found = status.failed(given, Failure("no"), STORED, base_url="https://h", now=NOW)
    assert conditions(found) == [
        ("Progressing", "True", "Retrying", "no"),
        ("Serving", "True", "Available", "Serving desired content from resolved source"),
    ]
    assert found.resolved_source is not None
    assert found.conditions[1].last_transition_time == datetime(2025, 1, 1, tzinfo=UTC)


def test_a_first_failure_says_nothing_of_serving() -> None:
    found = status.failed(catalog(), Failure("no"), None, base_url="https://h", now=NOW)
    assert conditions(found) == [("Progressing", "True", "Retrying", "no")]


def test_what_only_a_person_can_mend_is_blocked() -> None:
    failure = Failure("no", blocked=True)
    found = status.failed(catalog(), failure, None, base_url="https://h", now=NOW)
    assert conditions(found) == [("Progressing", "False", "Blocked", "no")]


def test_content_that_was_lost_is_not_said_to_be_served() -> None:
    given = catalog(conditions=[SERVING_TRUE])
    found = status.failed(given, Failure("no"), None, base_url="https://h", now=NOW)
    assert ("Serving", "False", "Unavailable", "") in conditions(found)
    assert found.resolved_source is None
    assert found.urls is None
    assert found.last_unpacked is None


def test_disabled() -> None:
    found = status.disabled(catalog(conditions=[SERVING_TRUE]), now=NOW)
    text = "Catalog availability mode is set to Unavailable"
    assert conditions(found) == [
        ("Progressing", "True", "Succeeded", text),
        ("Serving", "False", "UserSpecifiedUnavailable", text),
    ]
    assert wire.write(found).keys() == {"conditions", "observedGeneration"}


def test_deleted() -> None:
    found = status.deleted(catalog(conditions=[SERVING_TRUE]), now=NOW)
    assert conditions(found) == [("Serving", "False", "Unavailable", "")]


def test_foreign_conditions_are_removed() -> None:
    foreign = {**SERVING_TRUE, "type": "Delisted"}
    found = status.served(catalog(conditions=[foreign]), STORED, base_url="https://h", now=NOW)
    assert [c.type for c in found.conditions] == ["Progressing", "Serving"]


def test_stored_state_survives_the_disk_and_junk_is_nothing() -> None:
    assert read_stored(STORED.to_json()) == STORED
    for junk in (b"", b"[]", b"{}", b'{"version":1}'):
        assert read_stored(junk) is None


def test_confirmed_content_keeps_when_it_was_unpacked() -> None:
    metadata = catalog(metadata={"generation": 7}).metadata
    found = STORED.confirmed(metadata, "quay.io/org/cat:v2", 5.0)
    assert found.is_of(metadata)
    assert (found.unpacked, found.polled) == (STORED.unpacked, 5.0)
