"""Every expectation here was given by sigs.k8s.io/yaml itself."""

from typing import Any

import pytest

from olm_content.formats.kube_yaml import YamlError, load_all
from olm_content.formats.yaml_errors import MAX_DEPTH


def one(text: str) -> Any:
    (value,) = load_all(text.encode())
    return value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("y", True),
        ("Yes", True),
        ("ON", True),
        ("tRue", "tRue"),
        ("n", False),
        ("off", False),
        ("0", 0),
        ("017", 15),
        ("0o17", 15),
        ("0x1F", 31),
        ("0b11", 3),
        ("-0b11", -3),
        ("08", 8),
        ("1_000", 1000),
        ("_1", "_1"),
        ("0x", "0x"),
        ("1.0", 1),
        ("1e3", 1000),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1e400", "1e400"),
        ("9223372036854775808", 9223372036854775808.0),
        ("1" * 5000, "1" * 5000),
        ("0" * 90 + ".5", 0.5),
        ("12:30:45", "12:30:45"),
        ("2001-12-14", "2001-12-14"),
        ("1.2.3", "1.2.3"),
        ("!!str 1", "1"),
        ('!!int "1"', 1),
        ("!!float 1", 1),
        ("!!binary aGVsbG8=", "hello"),
        ("!custom 1", "1"),
        ('"1"', "1"),
        ("'yes'", "yes"),
    ],
)
def test_a_scalar_means_what_it_means_to_kubernetes(text: str, value: Any) -> None:
    read = one(f"k: {text}\n")["k"]
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize("text", ["", "~", "null", "Null", "NULL"])
def test_null_has_these_forms(text: str) -> None:
    assert one(f"k: {text}\n") == {"k": None}


@pytest.mark.parametrize(
    ("key", "text"),
    [("1", "1"), ("y", "true"), ("off", "false"), ("1.5", "1.5"), ("1e6", "1e+06"), ("0x10", "16")],
)
def test_keys_are_text(key: str, text: str) -> None:
    assert one(f"{key}: v\n") == {text: "v"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: .nan\n", "unsupported value: NaN"),
        ("a: -.inf\n", "unsupported value: -Inf"),
        ("~: v\n", "unsupported map key"),
        ("[a]: v\n", "unsupported map key"),
        ("a: *nowhere\n", "unknown anchor 'nowhere' referenced"),
        ("a: &a [*a]\n", "anchor 'a' value contains itself"),
        ("a: {<<: 1}\n", "map merge requires map"),
        ("a: !!int x\n", "cannot decode !!str `x` as a !!int"),
        ("a: !!binary '%'\n", "invalid base64"),
        ("--- x\n", "invalid Yaml document separator: x"),
        ("a: b: c\n", "mapping values are not allowed in this context"),
        ("a:\n\tb: 1\n", "found character that cannot start any token"),
    ],
)
def test_what_cannot_be_read_is_an_error(text: str, problem: str) -> None:
    with pytest.raises(YamlError) as error:
        one(text)
    assert problem in error.value.message


def test_an_error_names_document_and_line_of_the_stream() -> None:
    with pytest.raises(YamlError) as error:
        list(load_all(b"a: 1\n---\nb: 2\n---\nc: 3\nd: e: f\n"))
    assert (error.value.document, error.value.line) == (3, 6)
    assert "line 6" in error.value.message


def test_merges_happen_where_they_stand() -> None:
    text = "x: &x {b: 1, c: 2}\nafter: {<<: *x, b: 3}\nbefore: {b: 3, <<: *x}\n"
    assert one(text)["after"] == {"b": 3, "c": 2}
    assert one(text)["before"] == {"b": 1, "c": 2}


def test_of_several_merged_maps_earlier_ones_win() -> None:
    text = "x: &x {b: 1}\nz: &z {b: 2, c: 3}\nd: {<<: [*x, *z]}\n"
    assert one(text)["d"] == {"b": 1, "c": 3}


def test_a_repeated_key_keeps_its_last_value_unless_keys_must_be_unique() -> None:
    assert one("a: 1\na: 2\n") == {"a": 2}
    with pytest.raises(YamlError, match='"a" already set'):
        list(load_all(b"a: 1\na: 2\n", unique_keys=True))


def test_documents_are_separated_by_lines_and_empty_ones_left_out() -> None:
    text = b"# nothing\n---\na: 1\n--- # comment\n---\nnull\n---\nb: |\n  text"
    assert list(load_all(text)) == [{"a": 1}, {"b": "text\n"}]


def test_what_follows_the_end_of_a_document_is_not_read() -> None:
    assert list(load_all(b"a: 1\n...\n]broken\n---\nb: 2\n")) == [{"a": 1}, {"b": 2}]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('{"a": "\\ud83d\\ude00"}', [{"a": "😀"}]),
        ('{"a":1}{"b":2}\n{"c":3}', [{"a": 1}, {"b": 2}, {"c": 3}]),
        ('{"a":1,"a":2}', [{"a": 2}]),
        ("{a: 1}", [{"a": 1}]),
        ('{"a": 1}\n---\nb: 2\n', [{"a": 1}, {"b": 2}]),
    ],
)
def test_json_is_read_too(text: str, values: list[Any]) -> None:
    assert list(load_all(text.encode())) == values


def test_aliases_cannot_multiply_a_document_beyond_reason() -> None:
    bomb = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    bomb += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    with pytest.raises(YamlError, match="excessive aliasing"):
        one("\n".join(bomb))


@pytest.mark.parametrize("text", ["[" * (MAX_DEPTH + 1), '{"a":' * 300 + "1" + "}" * 300])
def test_depth_has_a_limit(text: str) -> None:
    with pytest.raises(YamlError, match="exceeded max depth"):
        one(text)


def test_json_integers_beyond_64_bits_become_floats() -> None:
    data = b'{"most": 9223372036854775807, "more": 9223372036854775808}'
    (found,) = load_all(data)
    assert (found["most"], found["more"]) == (2**63 - 1, float(2**63))
    assert isinstance(found["more"], float)


@pytest.mark.parametrize("digits", [400, 5000])
def test_a_number_that_no_float_holds_is_text_as_in_yaml(digits: int) -> None:
    assert one(f'{{"a": {"9" * digits}}}') == {"a": "9" * digits}
