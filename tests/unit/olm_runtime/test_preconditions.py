"""Conditional requests, ranges and negotiation, a row per sentence of RFC 9110."""

import pytest

from olm_runtime.preconditions import (
    ByteRange,
    RangeFault,
    Validators,
    Verdict,
    evaluate,
    negotiate,
    requested_ranges,
)

CURRENT = Validators('"abc"', 1_700_000_000)
SAME, BEFORE, AFTER = (
    "Tue, 14 Nov 2023 22:13:20 GMT",
    "Tue, 14 Nov 2023 22:13:19 GMT",
    "Tue, 14 Nov 2023 22:13:21 GMT",
)


def test_last_modified_is_an_http_date() -> None:
    assert CURRENT.last_modified == SAME


@pytest.mark.parametrize(
    ("headers", "verdict"),
    [
        ({}, Verdict.PROCEED),
        ({"if-none-match": '"abc"'}, Verdict.NOT_MODIFIED),
        ({"if-none-match": 'W/"abc"'}, Verdict.NOT_MODIFIED),
        ({"if-none-match": '"x", "abc"'}, Verdict.NOT_MODIFIED),
        ({"if-none-match": "*"}, Verdict.NOT_MODIFIED),
        ({"if-none-match": '"x"'}, Verdict.PROCEED),
        ({"if-none-match": "abc"}, Verdict.PROCEED),
        ({"if-modified-since": SAME}, Verdict.NOT_MODIFIED),
        ({"if-modified-since": AFTER}, Verdict.NOT_MODIFIED),
        ({"if-modified-since": BEFORE}, Verdict.PROCEED),
        ({"if-modified-since": "yesterday"}, Verdict.PROCEED),
        ({"if-none-match": '"x"', "if-modified-since": SAME}, Verdict.PROCEED),
        ({"if-match": '"abc"'}, Verdict.PROCEED),
        ({"if-match": "*"}, Verdict.PROCEED),
        ({"if-match": 'W/"abc"'}, Verdict.FAILED),
        ({"if-match": '"x"'}, Verdict.FAILED),
        ({"if-unmodified-since": SAME}, Verdict.PROCEED),
        ({"if-unmodified-since": BEFORE}, Verdict.FAILED),
        ({"if-match": '"abc"', "if-unmodified-since": BEFORE}, Verdict.PROCEED),
        ({"if-match": '"abc"', "if-none-match": '"abc"'}, Verdict.NOT_MODIFIED),
        ({"if-none-match": ""}, Verdict.PROCEED),
    ],
)
def test_preconditions(headers: dict[str, str], verdict: Verdict) -> None:
    assert evaluate(headers, CURRENT) is verdict


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("bytes=0-9", (ByteRange(0, 9),)),
        ("bytes=90-", (ByteRange(90, 99),)),
        ("bytes=-10", (ByteRange(90, 99),)),
        ("bytes=-1000", (ByteRange(0, 99),)),
        ("bytes=50-1000", (ByteRange(50, 99),)),
        ("bytes=100-", RangeFault.UNSATISFIABLE),
        ("bytes=-0", RangeFault.UNSATISFIABLE),
        (f"bytes=0-{'9' * 5000}", None),
        ("bytes=9-0", None),
        ("bytes=-", None),
        ("bytes=0-1,5-6", (ByteRange(0, 1), ByteRange(5, 6))),
        ("bytes= 5-6 , -1", (ByteRange(5, 6), ByteRange(99, 99))),
        ("bytes=0-1,200-", (ByteRange(0, 1),)),
        ("bytes=100-,-0", RangeFault.UNSATISFIABLE),
        ("bytes=0-1,9-0", None),
        ("bytes=0-1,x", None),
        ("bytes=0-,0-", None),
        ("bytes=" + ",".join(["0-0"] * 17), None),
        ("lines=0-1", None),
        ("", None),
    ],
)
def test_ranges(value: str, expected: object) -> None:
    assert requested_ranges({"range": value}, 100, CURRENT) == expected


@pytest.mark.parametrize(
    ("value", "counts"),
    [('"abc"', True), ('"x"', False), ('W/"abc"', False), (SAME, True), (BEFORE, False)],
)
def test_a_range_of_another_version_is_not_given(value: str, *, counts: bool) -> None:
    found = requested_ranges({"range": "bytes=0-9", "if-range": value}, 100, CURRENT)
    assert (found is not None) is counts


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("", "identity"),
        ("gzip", "gzip"),
        ("GZIP;q=0.5", "gzip"),
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip;q=1.0, zstd;q=0.5", "gzip"),
        ("zstd;q=0, gzip", "gzip"),
        ("*", "zstd"),
        ("*;q=0", "identity"),
        ("gzip;q=0", "identity"),
        ("identity, gzip;q=0.5", "identity"),
        ("br", "identity"),
        ("gzip;q=nonsense", "identity"),
    ],
)
def test_negotiation(accepted: str, coding: str) -> None:
    assert negotiate(accepted, ("zstd", "gzip")) == coding
