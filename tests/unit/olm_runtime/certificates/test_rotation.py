"""When what is due."""

from datetime import datetime, timedelta

import pytest

from olm_runtime.certificates.content import SecretContent
from olm_runtime.certificates.issuer import issuer
from olm_runtime.certificates.rotation import (
    Due,
    Situation,
    due,
    issued,
    next_look,
    prepared,
    promoted,
    trimmed,
)
from tests.unit.olm_runtime.certificates.cases import DNS_NAMES, LIFETIME, NOW, SETTLE

DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)
ISSUE = issuer(LIFETIME)


@pytest.fixture(scope="module")
def first() -> SecretContent:
    return issued(ISSUE(DNS_NAMES, NOW))


@pytest.fixture(scope="module")
def rotating(first: SecretContent) -> SecretContent:
    when = NOW + 60 * DAY
    return prepared(first, ISSUE(DNS_NAMES, when), when)


def after(days: float) -> datetime:
    return NOW + days * DAY


def test_without_a_certificate_one_is_issued() -> None:
    assert due(Situation(None), NOW, SETTLE) is Due.ISSUE


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        pytest.param(after(-1), Due.PREPARE, id="the clock went back: nobody trusts it yet"),
        pytest.param(NOW - SECOND, Due.NOTHING, id="issued by somebody whose clock is ahead"),
        pytest.param(after(0), Due.NOTHING, id="fresh"),
        pytest.param(after(60) - SECOND, Due.NOTHING, id="just before two thirds"),
        pytest.param(after(60), Due.PREPARE, id="two thirds"),
        pytest.param(after(89), Due.PREPARE, id="late, because nobody looked"),
        pytest.param(after(90), Due.ISSUE, id="ended: nobody trusts it any more"),
    ],
)
def test_a_certificate_gets_a_successor(
    first: SecretContent, when: datetime, expected: Due
) -> None:
    assert due(Situation(first), when, SETTLE) is expected


@pytest.mark.parametrize(
    ("spread", "when", "expected"),
    [
        pytest.param(None, after(61), Due.NOTHING, id="some callers do not know the new CA"),
        pytest.param(after(61), after(61), Due.NOTHING, id="they know it since now"),
        pytest.param(after(61), after(61) + SETTLE, Due.PROMOTE, id="they have known it"),
        pytest.param(after(61), after(60), Due.PROMOTE, id="the clock went back since"),
        pytest.param(None, after(90), Due.PROMOTE, id="the old one ended meanwhile"),
        pytest.param(None, after(150), Due.ISSUE, id="both ended meanwhile"),
    ],
)
def test_a_successor_serves_once_it_is_trusted(
    rotating: SecretContent, spread: datetime | None, when: datetime, expected: Due
) -> None:
    assert due(Situation(rotating, spread), when, SETTLE) is expected


def test_both_cas_are_trusted_before_and_after_the_change(
    first: SecretContent, rotating: SecretContent
) -> None:
    both = rotating.authorities
    assert first.authorities[0] in both
    assert len(both) == 2
    assert rotating.current == first.current, "the old certificate is still served"
    done = promoted(rotating, after(61))
    assert done.current == rotating.next
    assert (done.next, done.authorities) == (None, both)


def test_the_old_ca_is_dropped_when_its_certificate_ends(
    first: SecretContent, rotating: SecretContent
) -> None:
    done = promoted(rotating, after(61))
    assert trimmed(done, after(90) - SECOND) == done
    (left,) = trimmed(done, after(90)).authorities
    assert left not in first.authorities
    assert left.expires_at == done.current.expires_at


@pytest.mark.parametrize(
    ("spread", "expected"), [(None, after(90)), (after(61), after(61) + SETTLE)]
)
def test_the_next_look_is_when_something_is_due(
    rotating: SecretContent, spread: datetime | None, expected: datetime
) -> None:
    assert next_look(Situation(rotating, spread), after(61), SETTLE) == expected


def test_the_next_look_at_a_settled_certificate_is_its_renewal(first: SecretContent) -> None:
    assert next_look(Situation(first), NOW, SETTLE) == after(60)
    assert next_look(Situation(None), NOW, SETTLE) == NOW
    assert next_look(Situation(first), after(-1), SETTLE) == after(-1), "the clock went back"


def test_the_next_look_after_a_rotation_is_the_end_of_the_old_ca(rotating: SecretContent) -> None:
    done = promoted(rotating, after(61))
    assert next_look(Situation(done), after(61), SETTLE) == after(90)
