"""What OLMConfig and Events say of copies."""

from datetime import UTC, datetime

import pytest

from olm_classic.copies.condition import condition_of, event_of, is_disabled, subject
from olm_classic.copies.sources import Source

MISSING = "Copied CSVs are enabled and at least one copied CSVs is missing"
PRESENT = "Copied CSVs are enabled and present across the cluster"
UNEXPECTED = (
    "Copied CSVs are disabled and at least one unexpected copied CSV was found "
    "for an operator installed in AllNamespace mode"
)
CLEAN = (
    "Copied CSVs are disabled and no unexpected copied CSVs were found "
    "for operators installed in AllNamespace mode"
)


@pytest.mark.parametrize(
    ("disabled", "missing", "unexpected", "expected"),
    [
        (False, False, False, ("False", "CopiedCSVsEnabled", PRESENT)),
        (False, True, False, ("False", "CopiedCSVsEnabled", MISSING)),
        (True, False, True, ("False", "CopiedCSVsDisabled", UNEXPECTED)),
        (True, False, False, ("True", "CopiedCSVsDisabled", CLEAN)),
    ],
)
def test_the_condition_says_how_far_copies_are(
    disabled: bool, missing: bool, unexpected: bool, expected: tuple[str, str, str]
) -> None:
    found = condition_of(disabled=disabled, missing=missing, unexpected=unexpected)
    assert found.type == "DisabledCopiedCSVs"
    assert (found.status, found.reason, found.message) == expected


def test_without_an_olmconfig_copies_are_made() -> None:
    assert not is_disabled(None)
    assert not is_disabled({"spec": {}})
    assert is_disabled({"spec": {"features": {"disableCopiedCSVs": True}}})


def test_the_event_of_an_operator_always_has_the_same_name() -> None:
    source = Source(("operators", "my-csv.v1.0.0"), "1", "7", frozenset({""}), copied=True)
    one, other = (event_of(source, datetime(2026, 1, day, tzinfo=UTC)) for day in (1, 2))
    assert one["metadata"] == other["metadata"]
    assert one["type"] == "Warning"
    assert one["reason"] == "DisabledCopiedCSVs"
    assert one["message"] == "CSV copying disabled for operators/my-csv.v1.0.0"
    assert one["lastTimestamp"] == "2026-01-01T00:00:00Z"
    assert subject(one) == source.key
