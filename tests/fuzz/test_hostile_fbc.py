"""Catalog files made to hurt: each ends in a clear error, or in as much as it says."""

import json
from collections.abc import Iterator
from random import Random

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from olm_content.fbc.documents import FbcError, parse, parse_pieces
from tests.property.scale import cases, given_many

DEEP = 100_000
LAUGHS = "\n".join(
    ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
)
MERGES = "\n".join(
    ["a0: &a0 {k0: v}"]
    + [f"a{n}: &a{n} {{k{n}: v, x: *a{n - 1}, y: *a{n - 1}, z: *a{n - 1}}}" for n in range(1, 30)]
)
WIDE = "\n".join(
    ["a: &a [" + ", ".join("x" * 9 for _ in range(5000)) + "]", "b:"] + ["- *a"] * 50_000
)

HOSTILE = {
    "json nested lists": b'{"a":' + b"[" * DEEP + b"]" * DEEP + b"}",
    "json nested objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "json never closed": b'{"a":' * DEEP,
    "json list": b'[{"schema":"s"}]',
    "json text": b'"schema"',
    "json number as schema": b'{"schema":1}',
    "json null as package": b'{"schema":"s","package":null}',
    "json list as name": b'{"schema":"s","name":[]}',
    "json number out of range": b'{"schema":"s","x":1e999}',
    "json integer out of range": b'{"schema":"s","x":1' + b"0" * 4000 + b"}",
    "json two keys": b'{"schema":"s","SCHEMA":"t"}',
    "json two keys folded": '{"schema":"s","\u017fchema":"t"}'.encode(),
    "json cut": b'{"schema":"s","x":"',
    "json bare": b"{schema",
    "yaml aliases of aliases": LAUGHS.encode(),
    "yaml aliases in objects": MERGES.encode(),
    "yaml aliases of one list": WIDE.encode(),
    "yaml alias of itself": b"a: &a [*a]\n",
    "yaml unknown alias": b"a: *b\n",
    "yaml nested lists": b"a: " + b"[" * DEEP + b"]" * DEEP,
    "yaml nested blocks": b"\n".join(b" " * n + b"a:" for n in range(2000)),
    "yaml nested dashes": b"- " * DEEP,
    "yaml list": b"- schema: s\n",
    "yaml text": b"schema\n",
    "yaml tab": b"a:\n\t- b\n",
    "yaml infinity": b"schema: s\nx: .inf\n",
    "yaml cut": b'schema: "s\n',
    "yaml NUL": b"schema: s\nx: \x00\n",
    "yaml bytes": b"schema: s\nx: \xff\xfe\xfd\n",
    "yaml merge of a text": b"<<: text\nschema: s\n",
    "yaml keys that are lists": b"? [a, b]\n: c\n",
    "neither": b"\x00\x01\x02\x03" * 1000,
    "an executable": b"\x7fELF\x02\x01\x01" + bytes(4096),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_each_is_an_error_that_names_the_place(name: str) -> None:
    with pytest.raises(FbcError) as caught:
        list(parse(HOSTILE[name], path="evil/file"))
    message = caught.value.message
    assert message.startswith("evil/file: document 1, line ")
    assert len(message) < 500


def test_tags_make_nothing_but_values() -> None:
    [blob] = parse(b"schema: s\na: !!python/object/apply:os.system [id]\nb: !evil c\n", path="f")
    assert blob.raw == b'{"a":["id"],"b":"c","schema":"s"}'


def test_an_integer_of_two_million_digits_is_text() -> None:
    """As Go reads YAML: a number that no float64 holds is none."""
    digits = b"9" * 2_000_000
    [blob] = parse(b'{"schema":"s","x":' + digits + b"}", path="f")
    assert blob.raw == b'{"schema":"s","x":"' + digits + b'"}'


def test_a_file_of_separators_is_empty() -> None:
    assert not list(parse(b"---\n" * 100_000, path="f"))


def test_many_documents_take_no_more_memory_than_one() -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(50):
            yield b'{"schema":"s"}\n' * 1000

    assert sum(1 for _ in parse_pieces(pieces(), path="f")) == 50_000


def test_a_document_without_end_is_refused_before_it_fills_the_memory() -> None:
    def endless() -> Iterator[bytes]:
        yield b'{"schema":"'
        while True:
            yield b"x" * (1 << 20)

    with pytest.raises(FbcError, match="larger than"):
        list(parse_pieces(endless(), path="f"))


def test_blanks_without_end_are_refused_before_they_fill_the_memory() -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield b" \n" * (1 << 19)

    with pytest.raises(FbcError, match="larger than"):
        list(parse_pieces(endless(), path="f", document_bytes=8 << 20))


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_a_document_past_the_limit_is_refused_however_it_arrives(size: int) -> None:
    data = b'{"schema":"a"}\n{"schema":"%s"}\n{"schema":"c"}\n' % (b"b" * 100)
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    with pytest.raises(FbcError, match=r"f: document 2, line 2: is larger than 50 bytes") as caught:
        list(parse_pieces(pieces, path="f", document_bytes=50))
    assert "--max-document-bytes" in caught.value.hint


@pytest.mark.property
@given(st.binary(max_size=300), st.integers(1, 50))
@settings(max_examples=cases(1000), deadline=None)
def test_any_bytes_are_blobs_or_an_error(data: bytes, size: int) -> None:
    check(data, size)


YAML_TOKENS = (
    ("schema", "package", "name", ": ", "- ", "\n", "  ", "{", "}", "[", "]", ",", "&a ", "*a",
     "<<", "---\n", "|", ">", '"', "'", "!!binary ", "? ", "0x1", "1e3", "~", "no", "#",
     "%YAML 1.1\n", '{"schema":"s"}', "\t", "\ufeff", "\u2028", "2001-01-01")
)  # fmt: skip


def catalog(chance: Random) -> str:
    return "".join(chance.choices(YAML_TOKENS, k=chance.randint(0, 25)))


@pytest.mark.property
@given_many(1500, catalog, lambda chance: chance.randint(1, 50))
def test_anything_that_looks_like_a_catalog_is_blobs_or_an_error(text: str, size: int) -> None:
    check(text.encode(), size)


def check(data: bytes, size: int) -> None:
    """Blobs are canonical JSON, and do not depend on how the file arrives."""
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    try:
        whole = list(parse(data, path="f"))
    except FbcError:
        with pytest.raises(FbcError):
            list(parse_pieces(pieces, path="f"))
        return
    assert list(parse_pieces(pieces, path="f")) == whole
    for blob in whole:
        value = json.loads(blob.raw)
        assert isinstance(value, dict)
        assert list(value) == sorted(value)
        assert [again.raw for again in parse(blob.raw, path="f")] == [blob.raw]
        assert orjson.loads(blob.raw) == value
