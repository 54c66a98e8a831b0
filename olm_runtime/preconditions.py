"""Conditional requests, ranges and content negotiation, as RFC 9110 has them. Pure."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from enum import Enum, auto
from functools import lru_cache

Headers = Mapping[str, str]
"""Request headers by lower-case name."""

_TAG = re.compile(r'\s*(W/)?("[^"]*")\s*(?:,|$)')
_RANGES = re.compile(r"\s*bytes\s*=(.*)", re.IGNORECASE)
_RANGE = re.compile(r"\s*([0-9]{0,18})\s*-\s*([0-9]{0,18})\s*")
MAX_RANGES = 16
"""A request for more ranges than this gets the whole content."""
_QUALITY = re.compile(r"q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*", re.IGNORECASE)


class Verdict(Enum):
    """What the preconditions of a request come to."""

    PROCEED = auto()
    NOT_MODIFIED = auto()
    FAILED = auto()


@dataclass(frozen=True, slots=True)
class Validators:
    """What a representation is recognised by: a strong ETag with its quotes, and seconds."""

    etag: str
    modified: int

    @property
    def last_modified(self) -> str:
        """The time as the Last-Modified header carries it."""
        return _http_date(self.modified)


@lru_cache(maxsize=64)  # as many as there are catalogs, each asked for with every answer
def _http_date(seconds: int) -> str:
    return format_datetime(datetime.fromtimestamp(seconds, UTC), usegmt=True)


class RangeFault(Enum):
    """A range that cannot be had: answered with 416."""

    UNSATISFIABLE = auto()


@dataclass(frozen=True, slots=True)
class ByteRange:
    """Bytes `first` up to and with `last`."""

    first: int
    last: int


def evaluate(headers: Headers, current: Validators) -> Verdict:
    """The verdict for GET and HEAD, in the order of RFC 9110 section 13.2.2."""
    if "if-match" in headers:
        if not _matches(headers["if-match"], current.etag, weak=False):
            return Verdict.FAILED
    elif "if-unmodified-since" in headers:
        since = _seconds(headers["if-unmodified-since"])
        if since is not None and current.modified > since:
            return Verdict.FAILED
    if "if-none-match" in headers:
        if _matches(headers["if-none-match"], current.etag, weak=True):
            return Verdict.NOT_MODIFIED
    elif "if-modified-since" in headers:
        since = _seconds(headers["if-modified-since"])
        if since is not None and current.modified <= since:
            return Verdict.NOT_MODIFIED
    return Verdict.PROCEED


def requested_ranges(
    headers: Headers, size: int, current: Validators
) -> tuple[ByteRange, ...] | RangeFault | None:
    """The ranges that are asked for, as they are asked for; None to send everything.

    Other units, malformed headers and more bytes than there are count as no range, as a server
    may decide (section 14.2). If-Range must match strongly.
    """
    match = _RANGES.fullmatch(headers.get("range", ""))
    if match is None or not _if_range(headers, current):
        return None
    specs = [_RANGE.fullmatch(part) for part in match[1].split(",", MAX_RANGES)]
    if len(specs) > MAX_RANGES or not all(spec and any(spec.groups()) for spec in specs):
        return None
    if any(spec and all(spec.groups()) and int(spec[2]) < int(spec[1]) for spec in specs):
        return None
    found = tuple(filter(None, (_extent(spec[1], spec[2], size) for spec in specs if spec)))
    if sum(extent.last - extent.first + 1 for extent in found) > size:
        return None
    return found or RangeFault.UNSATISFIABLE


def _extent(first: str, last: str, size: int) -> ByteRange | None:
    """What of a representation a range covers; None for nothing."""
    if not first:
        desired = min(int(last), size)
        return ByteRange(size - desired, size - 1) if desired else None
    start, end = int(first), min(int(last), size - 1) if last else size - 1
    return ByteRange(start, end) if start < size else None


def negotiate(accepted: str, offered: Collection[str]) -> str:
    """The coding to use of those `offered` in our order of preference; "identity" otherwise.

    A coding that is not named is not used, unless `*` is.
    """
    qualities = dict(filter(None, map(_coding, accepted.split(","))))
    default = qualities.get("*", 0.0)
    best = max(offered, key=lambda coding: qualities.get(coding, default), default="")
    quality = qualities.get(best, default) if best else 0.0
    return best if quality > 0 and quality >= qualities.get("identity", 0.0) else "identity"


def _coding(item: str) -> tuple[str, float] | None:
    name, _, parameter = item.partition(";")
    if not parameter.strip():
        return name.strip().lower(), 1.0
    quality = _QUALITY.fullmatch(parameter.strip())
    return (name.strip().lower(), float(quality[1])) if quality else None


def _if_range(headers: Headers, current: Validators) -> bool:
    value = headers.get("if-range")
    if value is None:
        return True
    if '"' in value:
        return value.strip() == current.etag
    return _seconds(value) == current.modified


def _matches(header: str, etag: str, *, weak: bool) -> bool:
    if header.strip() == "*":
        return True
    position = 0
    while match := _TAG.match(header, position):
        is_weak, tag = match.groups()
        if tag == etag and (weak or not is_weak):
            return True
        position = match.end()
        if position == len(header):
            break
    return False


def _seconds(header: str) -> int | None:
    """An HTTP date; None if it is none (then the header is ignored)."""
    try:
        return int(parsedate_to_datetime(header).timestamp())
    except (ValueError, TypeError, OverflowError):
        return None
