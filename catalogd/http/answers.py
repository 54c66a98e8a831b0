"""From a request and the content that is served to an answer: headers, and which bytes. Pure.

Nothing is read here; an answer names sections of files, and whoever sends it reads them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from api.olm.v1.names import HEADER_RESOLVED_SOURCE
from catalogd.http import problems
from catalogd.http.problems import Problem
from catalogd.index import Index, Query, Section
from catalogd.query import BadQueryError, parse_query
from olm_runtime import gzip_parts
from olm_runtime.preconditions import (
    ByteRange,
    Headers,
    RangeFault,
    Validators,
    Verdict,
    evaluate,
    negotiate,
    requested_ranges,
)

MEDIA_TYPE = "application/jsonl"
IDENTITY, GZIP, ZSTD = "identity", "gzip", "zstd"

HeaderList = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """The content that is served, as far as answers depend on it.

    `source` is the canonical reference that it came from. By coding: `digests` are of the very
    bytes, which differ where other libraries compressed them, `sizes` are in bytes.
    """

    source: str
    modified: int
    digests: Mapping[str, str]
    sizes: Mapping[str, int]
    index: Index


@dataclass(frozen=True, slots=True)
class Answer:
    """What to send: sections of the file of `coding`, and bytes as they are."""

    status: int
    headers: HeaderList
    coding: str = IDENTITY
    parts: Sequence[Section | bytes] = ()


def answer_all(headers: Headers, version: Version) -> Answer:
    """`/all`: the whole catalog, or a range of it."""
    coding = negotiate(headers.get("accept-encoding", ""), (ZSTD, GZIP))
    size = version.sizes[coding]
    current = _validators(version, coding)
    common = (*_headers(version, current, coding), ("accept-ranges", "bytes"))
    if (early := _early(headers, current, common)) is not None:
        return early
    match requested_ranges(headers, size, current):
        case RangeFault():
            extent = ("content-range", f"bytes */{size}")
            return problem(problems.RANGE_NOT_SATISFIABLE, (extent,))
        case (ByteRange(first, last),):
            extent = ("content-range", f"bytes {first}-{last}/{size}")
            section = Section(first, last - first + 1)
            return Answer(206, (*common, extent, _length(section.length)), coding, (section,))
        case tuple() as extents:
            return _multipart(version, common, coding, extents)
        case None:
            return Answer(200, (*common, _length(size)), coding, (Section(0, size),))


def _multipart(
    version: Version, common: HeaderList, coding: str, extents: Sequence[ByteRange]
) -> Answer:
    """Several ranges as multipart/byteranges (section 14.6).

    Content cannot hold its own digest, so that is what parts it.
    """
    size, boundary = version.sizes[coding], version.digests[coding]
    parts: list[Section | bytes] = []
    for first, last in ((extent.first, extent.last) for extent in extents):
        head = (
            f"\r\n--{boundary}\r\nContent-Type: {MEDIA_TYPE}\r\n"
            f"Content-Range: bytes {first}-{last}/{size}\r\n\r\n"
        )
        parts += [head.encode(), Section(first, last - first + 1)]
    parts.append(f"\r\n--{boundary}--\r\n".encode())
    others = [header for header in common if header[0] != "content-type"]
    kind = ("content-type", f"multipart/byteranges; boundary={boundary}")
    return Answer(206, (kind, *others, _total_length(parts)), coding, tuple(parts))


def answer_metas(headers: Headers, version: Version, query_string: str) -> Answer:
    """`/metas`: the blobs that match; nothing that matches is an empty success."""
    try:
        query = parse_query(query_string)
    except BadQueryError:
        return problem(problems.BAD_REQUEST)
    return _everything(headers, version) if query.is_everything else _some(headers, version, query)


def _everything(headers: Headers, version: Version) -> Answer:
    """No parameter means the whole catalog, but `/metas` knows no ranges."""
    return answer_all({k: v for k, v in headers.items() if k != "range"}, version)


def _some(headers: Headers, version: Version, query: Query) -> Answer:
    extract = version.index.extract(query)
    offered = (GZIP,) if extract is not None else ()
    coding = negotiate(headers.get("accept-encoding", ""), offered)
    current = _validators(version, coding)
    common = _headers(version, current, coding)
    if (early := _early(headers, current, common)) is not None:
        return early
    parts: Sequence[Section | bytes]
    if coding == IDENTITY or extract is None:
        parts = tuple(version.index.sections(version.index.find(query)))
    else:
        end = gzip_parts.end(extract.sum.crc, extract.sum.size)
        parts = (gzip_parts.HEADER, *extract.segments, end)
    return Answer(200, (*common, _total_length(parts)), coding, parts)


def problem(fault: Problem, headers: HeaderList = ()) -> Answer:
    """An error answer."""
    common = (
        ("content-type", "text/plain; charset=utf-8"),
        ("x-content-type-options", "nosniff"),
        _length(len(fault.body)),
    )
    return Answer(fault.status, (*common, *headers), parts=(fault.body,))


def _early(headers: Headers, current: Validators, common: HeaderList) -> Answer | None:
    match evaluate(headers, current):
        case Verdict.NOT_MODIFIED:
            return Answer(304, tuple(h for h in common if h[0] != "content-type"))
        case Verdict.FAILED:
            return problem(problems.PRECONDITION_FAILED)
        case Verdict.PROCEED:
            return None


def _validators(version: Version, coding: str) -> Validators:
    """A variant is another representation, so it has another strong ETag: that of its bytes, from
    which those of any part of it follow.
    """
    return Validators(f'"{version.digests[coding]}"', version.modified)


def _headers(version: Version, current: Validators, coding: str) -> HeaderList:
    encoding = () if coding == IDENTITY else (("content-encoding", coding),)
    return (
        ("content-type", MEDIA_TYPE),
        ("etag", current.etag),
        ("last-modified", current.last_modified),
        ("vary", "Accept-Encoding"),
        (HEADER_RESOLVED_SOURCE, version.source),
        *encoding,
    )


def _total_length(parts: Sequence[Section | bytes]) -> tuple[str, str]:
    return _length(sum(p.length if isinstance(p, Section) else len(p) for p in parts))


def _length(size: int) -> tuple[str, str]:
    return ("content-length", str(size))
