"""Bytes to blobs, and the order of files."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from olm_content.fbc.documents import EMPTY, Blob, FbcError, parse, parse_pieces
from olm_content.fbc.files import files_to_read
from olm_content.formats.canonical_json import CanonicalError, canonical, go_number


def raws(text: str) -> list[str]:
    return [blob.raw.decode() for blob in parse(text.encode(), path="f")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"schema":"s","b":1,"a":2}', ['{"a":2,"b":1,"schema":"s"}']),
        ('{"a":1}\n{"a":2}\n', ['{"a":1}', '{"a":2}']),
        ('{"a":1}{"a":2} {"a":3}', ['{"a":1}', '{"a":2}', '{"a":3}']),
        ('{"a":1}\n---\n{"a":2}', ['{"a":1}', '{"a":2}']),
        ('{"a":1}\nb: 2\n---\nc: 3\n', ['{"a":1}', '{"b":2}', '{"c":3}']),
        ('\n\n {\n "a": {\n}\n}\n\n\n{"a":2}', ['{"a":{}}', '{"a":2}']),
        ('{"a":"}\\n{"}', ['{"a":"}\\n{"}']),
        ("---\na: 1\n---\nb: 2\n", ['{"a":1}', '{"b":2}']),
        ("a: 1\n---\n# only a comment\n---\nb: 2\n", ['{"a":1}', '{"b":2}']),
        ("a: |\n  ---\n  x\n", ['{"a":"---\\nx\\n"}']),
        ("{a: 1}", ['{"a":1}']),
        ("", []),
        (" \n\n", []),
        ("a: <b>&\n", ['{"a":"<b>&"}']),
    ],
)
def test_documents_become_canonical_json(text: str, expected: list[str]) -> None:
    assert raws(text) == expected


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("a: 1\n---\n", []),
        ("---\na: 1\n---\n---\nb: 1\n", []),
        ("\n\n", [1]),
        ("# a comment alone\n---\na: 1\n", [1]),
        ("---\n---\na: 1\n", [2]),
        ("a: 1\n---\nnull\n---\n\n---\nb: 1\n", [3, 5]),
        ('{"a":1}\n\n', []),
    ],
)
def test_empty_documents_are_where_upstream_has_them(text: str, lines: list[int]) -> None:
    blobs = list(parse_pieces([text.encode()], path="f", empty_too=True))
    assert [blob.line for blob in blobs if blob.raw == EMPTY] == lines
    remaining = [blob for blob in blobs if blob.raw != EMPTY]
    assert remaining == list(parse(text.encode(), path="f"))


def test_bytes_that_are_no_utf8_are_replaced() -> None:
    [blob] = parse(b'{"a":"\xff"}', path="f")
    assert blob.raw.decode() == '{"a":"�"}'


def test_meta_keys_match_whatever_their_case() -> None:
    text = b'{"Schema":"olm.bundle","PACKAGE":"p","name":"n"}'
    assert list(parse(text, path="f")) == [
        Blob("olm.bundle", "p", "n", b'{"PACKAGE":"p","Schema":"olm.bundle","name":"n"}')
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"schema":"a","Schema":"b"}', 'f: document 1, line 1: duplicate keys for key "schema": '),
        ('{"a":1}\n{"schema":1}', "f: document 2, line 2: expected value for key"),
        ('{"a":1}\n\n{"a":\n!}', "f: document 2, line 4: "),
        ('{"a":1} b: 2\n', "f: document 1, line 1: "),
        ('{"a":1}\nb: 2\nc: [\n', "f: document 1, line 4: "),
        ("a: 1\n---\nb: 2\n---\n  - c: [\n", "f: document 3, line "),
        ("a: 1\n---\n- b\n", "f: document 2, line 3: expected an object with a schema, got list"),
        ("just text", "got str"),
        ('{"a":' * 5000, "f: document 1, line 1: "),
        ('{"a":' * 900 + "1.5" + "}" * 900, "nests too deep"),
    ],
)
def test_faults_name_file_document_and_line(text: str, fault: str) -> None:
    with pytest.raises(FbcError) as caught:
        raws(text)
    assert fault in caught.value.message


def test_a_document_without_end_is_refused() -> None:
    def endless() -> Iterator[bytes]:
        yield b'{"a":"'
        while True:
            yield b"x" * 100

    with pytest.raises(FbcError, match="larger than 1000 bytes"):
        list(parse_pieces(endless(), path="f", document_bytes=1000))


DOCUMENTS = st.lists(
    st.dictionaries(
        st.text(max_size=5), st.integers(-(2**53), 2**53) | st.text() | st.booleans(), max_size=4
    ).filter(lambda d: not {k.casefold() for k in d} & {"schema", "package", "name"}),
    max_size=6,
).filter(lambda ds: all(len({k.casefold() for k in d}) == len(d) for d in ds))


@given(DOCUMENTS, st.integers(1, 20), st.sampled_from([b"\n", b"\n\n", b" \n ", b"\n---\n"]))
def test_any_cut_into_pieces_gives_the_same_blobs(
    documents: list[dict[str, object]], size: int, glue: bytes
) -> None:
    text = glue.join(canonical(d) for d in documents)
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    expected = [canonical(d) for d in documents]
    assert [blob.raw for blob in parse_pieces(pieces, path="f")] == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.0, "1"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.5e21, "1.5e+21"),
        (1e-6, "0.000001"),
        (1e-7, "1e-7"),
        (1.25e-10, "1.25e-10"),
        (18446744073709551615.0, "18446744073709552000"),
    ],
)
def test_numbers_are_written_as_go_writes_float64(value: float, expected: str) -> None:
    assert go_number(value) == expected


def test_large_integers_lose_what_float64_cannot_hold() -> None:
    value = {"a": [2**53, 2**53 + 1, 10**25], "b": "\u2028"}
    expected = '{"a":[9007199254740992,9007199254740992,1e+25],"b":"\\u2028"}'
    assert canonical(value).decode() == expected


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 10**400])
def test_what_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(CanonicalError):
        canonical({"a": [value, 1.5]})


def test_files_are_read_in_the_order_of_a_sorted_walk() -> None:
    paths = ["b.yaml", "a/z.yaml", "a.yaml", "a-b/x.json", "a/.indexignore", "a/b/c"]
    assert files_to_read(paths, {}) == ["a/b/c", "a/z.yaml", "a-b/x.json", "a.yaml", "b.yaml"]


def test_ignore_files_follow_git_and_deeper_ones_win() -> None:
    ignores = {
        "": "**/*\n!*.json\n!*.yaml\n**/objects/*.json\n**/objects/*.yaml\n",
        "c": "!keep.md\n*.json\n",
    }
    paths = ["README.md", "a/index.yaml", "a/objects/x.yaml", "c/keep.md", "c/x.json", "x.json"]
    assert files_to_read(paths, ignores) == ["a/index.yaml", "c/keep.md", "x.json"]


def test_a_lone_surrogate_is_replaced_as_go_does() -> None:
    assert raws('{"a":"\\ud800x"}') == ['{"a":"�x"}']
