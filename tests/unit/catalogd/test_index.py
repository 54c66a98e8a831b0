"""The index answers as a naive reader of the file would."""

import gzip
import zlib
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalogd.index import PIECE_LENGTH, BadIndexError, Index, IndexBuilder, Query, Section
from catalogd.io.content import GZIP, PLAIN, Content, open_content
from catalogd.io.writer import write_content
from olm_content.fbc.documents import Blob
from olm_runtime import gzip_parts

WORDS = ["", "a", "b", "c", "olm.bundle"]
WORD = st.sampled_from(WORDS)
BLOBS = st.lists(st.builds(Blob, WORD, WORD, WORD, st.binary(max_size=40)), max_size=30)
QUERIES = st.builds(Query, WORD, WORD, WORD)
EMPTY = orjson.loads(b"".join(IndexBuilder(0).to_json()))


def build(blobs: list[Blob]) -> Index:
    builder = IndexBuilder(10_000)
    for blob in blobs:
        builder.add(
            schema=blob.schema, package=blob.package, name=blob.name, length=len(blob.raw) + 1
        )
    return Index.from_json(b"".join(builder.to_json()))


def naive(blobs: list[Blob], query: Query) -> list[int]:
    """Reads everything and keeps what matches; blobs without a schema are out of reach."""
    if query == Query():
        return list(range(len(blobs)))
    return [
        number
        for number, blob in enumerate(blobs)
        if blob.schema
        and query.schema in ("", blob.schema)
        and query.package in ("", blob.package)
        and query.name in ("", blob.name)
    ]


@given(BLOBS, QUERIES)
def test_find_equals_the_naive_filter(blobs: list[Blob], query: Query) -> None:
    assert build(blobs).find(query) == naive(blobs, query)


@given(BLOBS, QUERIES)
def test_sections_cover_exactly_the_blobs_found(blobs: list[Blob], query: Query) -> None:
    index = build(blobs)
    data = b"".join(blob.raw + b"\n" for blob in blobs)
    found = index.find(query)
    sections = list(index.sections(found))
    expected = b"".join(blobs[number].raw + b"\n" for number in found)
    assert b"".join(data[s.offset : s.offset + s.length] for s in sections) == expected
    ends = [s.offset + s.length for s in sections]
    assert all(end < after.offset for end, after in zip(ends, sections[1:], strict=False))


def test_package_does_not_find_the_package_blob_itself() -> None:
    """It has a name and no package, as upstream's index has it."""
    blobs = [Blob("olm.package", "", "foo", b"{}"), Blob("olm.channel", "foo", "stable", b"{}")]
    assert build(blobs).find(Query(package="foo")) == [1]
    assert build(blobs).find(Query(name="foo")) == [0]


def test_one_that_is_written_in_several_pieces_finds_the_last_blob() -> None:
    count = 2 * PIECE_LENGTH + 1
    index = build([Blob("olm.bundle", "a", f"a.v{number}", b"{}") for number in range(count)])
    assert len(index) == count
    assert index.find(Query(name=f"a.v{count - 1}")) == [count - 1]
    assert index.find(Query(name=f"a.v{count}")) == []
    assert index.find(Query(name="\ud800")) == [], "no text has a half of a character"
    assert index.section(count - 1) == Section((count - 1) * 3, 3)


@pytest.mark.parametrize(
    "document",
    [
        None,
        {},
        {"format": 1},
        {"format": 2, "words": [], "ends": [-1], "schema": []},
        {**EMPTY, "words": [1]},
        {**EMPTY, "ends": [9], "schema": [0], "package": [0], "name": [4_000_000_000]},
    ],
)
def test_what_is_no_index_is_refused(document: object) -> None:
    with pytest.raises(BadIndexError):
        Index.from_json(orjson.dumps(document))


DAMAGED = {
    "nothing": b"",
    "an end too soon": b"[",
    "no text": b'["\xff"]',
    "half a character": b'["\\ud800"]',
    "too deep": b"[" * 50_000,
    "no array of words": b'[[""]]',
}


@pytest.mark.parametrize("words", DAMAGED.values(), ids=DAMAGED)
def test_an_index_that_is_damaged_is_refused(words: bytes) -> None:
    whole = orjson.dumps(EMPTY)
    with pytest.raises(BadIndexError):
        Index.from_json(whole.replace(b'"words":[]', b'"words":' + words))


def written(blobs: list[Blob], folder: Path) -> Content:
    work = folder / "work"
    work.mkdir(parents=True)
    manifest = write_content(iter(blobs), work)
    return open_content(work.rename(folder / manifest.version), verify=True)


@given(BLOBS)
@settings(max_examples=25, deadline=None)
def test_the_gzip_variant_holds_the_plain_file_and_what_is_asked_for_alone(
    tmp_path_factory: pytest.TempPathFactory, blobs: list[Blob]
) -> None:
    content = written(blobs, tmp_path_factory.mktemp("content"))
    plain = content.files[PLAIN].read(0, 1 << 20)
    packed = content.files[GZIP].read(0, 1 << 20)
    assert plain == b"".join(blob.raw + b"\n" for blob in blobs)
    assert zlib.decompress(packed, zlib.MAX_WBITS | 16) == plain
    for query in (Query(schema, package) for schema in WORDS for package in WORDS):
        found = naive(blobs, query)
        extract = content.index.extract(query)
        assert (extract is not None) == bool(found and not query.is_everything)
        if extract is not None:
            expected = b"".join(blobs[number].raw + b"\n" for number in found)
            cut = b"".join(packed[s.offset : s.offset + s.length] for s in extract.segments)
            member = gzip_parts.HEADER + cut + gzip_parts.end(extract.sum.crc, extract.sum.size)
            assert gzip.decompress(member) == expected
    content.retire()


def test_segments_that_follow_each_other_are_read_as_one(tmp_path: Path) -> None:
    blobs = [Blob(s, p, "n", b"xx") for p in "ab" for s in ("channel", "bundle")]
    content = written(blobs, tmp_path)
    counts = {
        query: len(extract.segments) if (extract := content.index.extract(query)) else 0
        for query in (
            Query(package="a"),
            Query(schema="bundle"),
            Query(schema="bundle", package="b"),
            Query(schema="bundle", package="b", name="n"),
        )
    }
    assert list(counts.values()) == [1, 2, 1, 0]
    content.retire()


def test_neighbours_are_read_as_one_section() -> None:
    blobs = [Blob("s", p, "n", b"xx") for p in ("a", "a", "b", "a")]
    index = build(blobs)
    found = index.find(Query(package="a"))
    assert list(index.sections(found)) == [Section(0, 6), Section(9, 3)]
