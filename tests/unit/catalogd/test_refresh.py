"""Requests to ask a registry at once, and what the status says of them."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from api.olm.v1.clustercatalog import ClusterCatalog, ClusterCatalogStatus
from api.olm.v1.names import ANNOTATION_REFRESH_REQUESTED
from api.olm.v1.refresh import answer, requested, said_of
from catalogd import status
from catalogd.refresh import REST_SECONDS, Asked, last_answer, open_request
from catalogd.status import Failure
from tests.unit.catalogd.test_plan_and_status import CANONICAL, STORED, catalog

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
URL = "https://h"


def asking(request: str, found: ClusterCatalogStatus | None = None) -> ClusterCatalog:
    """A catalog with a request, and the status that was written before."""
    given = catalog(metadata={"annotations": {ANNOTATION_REFRESH_REQUESTED: request}})
    return given if found is None else replace(given, status=found)


def refreshed(found: ClusterCatalogStatus) -> tuple[str, str, str]:
    [condition] = [c for c in found.conditions if c.type == "Refreshed"]
    return str(condition.status), condition.reason, condition.message


def test_without_a_request_there_is_no_answer() -> None:
    assert open_request(catalog()) == ""
    found = status.served(catalog(), STORED, base_url=URL, now=NOW)
    assert [c.type for c in found.conditions] == ["Progressing", "Serving"]


def test_a_request_is_met_once() -> None:
    assert open_request(asking("a")) == "a"
    first = status.served(asking("a"), STORED, base_url=URL, now=NOW)
    assert refreshed(first) == ("True", "Updated", f'request "a": new content: {CANONICAL}')
    met = asking("a", first)
    assert open_request(met) == ""
    assert status.served(met, STORED, base_url=URL, now=NOW) == first

    again = asking("b", first)
    assert open_request(again) == "b"
    second = status.served(again, STORED, base_url=URL, now=NOW)
    assert refreshed(second)[1:] == (
        "Unchanged", 'request "b": nothing new: what is served is up to date',
    )  # fmt: skip


@pytest.mark.parametrize("blocked", [True, False])
def test_a_request_that_failed_stays_open(*, blocked: bool) -> None:
    failure = Failure("no network", blocked=blocked)
    found = status.failed(asking("a"), failure, STORED, base_url=URL, now=NOW)
    reason = "Blocked" if blocked else "Retrying"
    assert refreshed(found) == ("False", reason, 'request "a": no network')
    failed = asking("a", found)
    assert open_request(failed) == "a"
    assert last_answer(failed) is not None
    assert last_answer(asking("b", found)) is None


def test_what_was_met_stays_so_when_a_later_poll_fails() -> None:
    met = status.served(asking("a"), STORED, base_url=URL, now=NOW)
    later = status.failed(asking("a", met), Failure("no"), STORED, base_url=URL, now=NOW)
    assert refreshed(later) == refreshed(met)


def test_the_answer_goes_with_its_request_and_with_the_content() -> None:
    met = status.served(asking("a"), STORED, base_url=URL, now=NOW)
    asked_no_more = replace(catalog(), status=met)
    for found in (
        status.served(asked_no_more, STORED, base_url=URL, now=NOW),
        status.disabled(asking("a", met), now=NOW),
    ):
        assert "Refreshed" not in [c.type for c in found.conditions]


@pytest.mark.parametrize(
    ("uid", "generation", "now", "rest"),
    [
        ("u", 1, 100.0, REST_SECONDS),
        ("u", 1, 104.0, REST_SECONDS - 4),
        ("u", 1, 100.0 + REST_SECONDS, 0.0),
        ("u", 0, 100.0, 0.0),
        ("other", 1, 100.0, 0.0),
    ],
)
def test_registries_are_left_alone_a_while(
    uid: str, generation: int, now: float, rest: float
) -> None:
    assert Asked(uid, generation, 100.0).rest(asking("b"), now) == rest


def test_no_request_is_taken_for_another() -> None:
    assert said_of("a", answer("a", "x: y")) == "x: y"
    assert said_of("a", answer('a": b', "x")) is None
    assert said_of("a", answer("ab", "x")) is None
    assert said_of("", answer("a", "x")) is None


def test_a_long_request_has_a_short_name() -> None:
    first, second = (requested({ANNOTATION_REFRESH_REQUESTED: "x" * 100_000 + end}) for end in "ab")
    assert len(first) == len(second) == 63
    assert first != second
