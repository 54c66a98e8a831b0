"""What is read line by line, and what is left to libyaml's events, which are the measure."""

from typing import Any

import pytest

from olm_content.formats.yaml_blocks import MAX_BYTES, load_blocks
from olm_content.formats.yaml_errors import YamlError
from olm_content.formats.yaml_events import EventReader

USUAL = {
    "an empty value is null": "a:\nb: 1\n",
    "a mapping in a mapping": "a:\n  b:\n    c: 1\n  d: 2\ne: 3\n",
    "a list at the column of its key": "a:\n- 1\n- 2\nb: 3\n",
    "a deeper list": "a:\n  - 1\n  - b: 1\n    c: 2\nd: 3\n",
    "mappings in a list": "a:\n- b: 1\n  c:\n    d: 2\n- b:\n  - 1\n  c: 3\n- x\n",
    "empty collections": "a: {}\nb: []\nc:\n- {}\n- []\n",
    "the last value of a key given twice, where the first was": "a: 1\nb: 2\na: 3\n",
    "a list in a line": "a: [b, c.d/e-f]\nb: [1, yes,n , \"*, #\" ,''] # y\nc:\n- [ x ]\n",
    "scalars that are no text": "a: yes\nb: 0x1F\nc: 1.50\nd: ~\ne: -1\nf: 1e3\n",
    "text that looks like an indicator": "a: -x\nb: a:b\nc: a#b\nd: --flag=1\ne: '- x'\n",
    "a plain scalar in several lines": "a: one\n  two\n   three\nb:\n- one\n more\n- c: x\n    y\n",
    "single quotes": "a: 'it''s'\nb: ''\nc: 'one\n  two \n\n  three'\n",
    "double quotes": 'a: "one two"\nb: ""\nc: "1"\n',
    "escapes": 'a: "\\"x\\" \\\\ \\n\\t\\u00e9\\U0001F600"\n',
    "double quotes in several lines": 'a: "one\\\n  two\\\n  \\ three\n\n  x"\n',
    "a literal block": "a: |\n  one\n    two\n\n  three\nb: |-\n  x\n\n",
    "a literal block in a list": "a:\n- |\n one\n- d: |-\n    e\n  f: 1\n",
    "empty lines with blanks in a block": "a: |\n   one\n \n     \n   two\n  \nb: 1\n",
    "what looks like a comment in a block": "a: |\n  one\n \n  # two\nb: 1\n",
    "comments and empty lines": "# x\n\na: 1 # y\n\n  # z\nb: # y\n  c: 'x' # y\n# z\n",
    "blanks at the end of lines": "a: one   \nb:   \n  c: 'x'  \n",
    "no line break at the end": "a:\n  b: one",
    "letters of other languages": "a: é 中 😀\nb: 'é'\n",
}

UNUSUAL = {
    "nothing": "",
    "comments alone": "# x\n",
    "a scalar": "one\n",
    "a list": "- 1\n",
    "an indented document": " a: 1\n",
    "a key in quotes": "'a': 1\n",
    "a key that is no text": "on: 1\n",
    "a merge key": "a: &x {b: 1}\nc:\n  <<: *x\n",
    "a mapping in a line": "a: {b: 1}\n",
    "a list in a list in a line": "a: [[1], 2]\n",
    "a mapping in a list in a line": "a: [b: 1]\n",
    "a list that goes on": "a: [1,\n  2]\n",
    "a list with a comma at its end": "a: [1, ]\n",
    "a quote in a quoted word": "a: ['it''s']\n",
    "a minus in a list in a line": "a: [-1]\n",
    "two words in a list in a line": "a: [b c]\n",
    "an anchor": "a: &x 1\n",
    "a tag": "a: !!str 1\n",
    "a folded block": "a: >\n  one\n  two\n",
    "a block that keeps line breaks": "a: |+\n  one\n\nb: 1\n",
    "a block that names its indentation": "a: |2\n   one\n",
    "a block that begins with an empty line": "a: |\n\n  one\n",
    "an escape that is seldom used": 'a: "\\x41"\n',
    "a tab": "a: one\ttwo\n",
    "other line breaks": "a: 1\r\nb: 2\n",
    "an empty line within a plain scalar": "a: one\n\n  two\n",
    "a comment that no blank precedes": "a: 'x'#y\n",
    "a list in a list": "a:\n- - 1\n",
    "the end of the document": "a: 1\n...\nb: 2\n",
    "a directive": "%YAML 1.1\n",
    "a byte order mark": "\ufeffa: 1\n",
    "depth": "".join(f"{' ' * level}a:\n" for level in range(300)),
    "length": f"a: {'x' * MAX_BYTES}\n",
}

WRONG = {
    "two values for a key": "a: 1\n  b: 2\n",
    "less indentation than what it belongs to": "a:\n    b: 1\n  c: 2\n",
    "an item where a key belongs": "a: 1\n- b\n",
    "a key where an item belongs": "a:\n  - 1\n  b: 2\n",
    "text behind a quoted scalar": "a: 'x' y\n",
    "an open quote": "a: 'x\nb: 1\n",
    "a colon in a plain scalar": "a: b: c\n",
    "a character that is none": 'a: "\\ud800"\n',
    "an unknown escape": 'a: "\\q"\n',
    "a number that JSON has not": "a: .nan\n",
    "the end of the document in quotes": "a: 'x\n...\n'\n",
}


def by_events(text: str) -> Any:
    return EventReader(text.encode(), unique_keys=False).load()


@pytest.mark.parametrize("text", USUAL.values(), ids=USUAL)
def test_the_usual_forms_are_read_as_their_events_say(text: str) -> None:
    value = load_blocks(text.encode())
    assert value is not None
    assert repr(value) == repr(by_events(text))  # types and order, too


@pytest.mark.parametrize("text", [*UNUSUAL.values(), *WRONG.values()], ids=[*UNUSUAL, *WRONG])
def test_everything_else_is_left_to_the_events(text: str) -> None:
    assert load_blocks(text.encode()) is None


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_reported_by_the_events(text: str) -> None:
    with pytest.raises(YamlError):
        by_events(text)


def test_bytes_that_are_no_utf_8_are_left_to_the_events() -> None:
    assert load_blocks(b"a: \xff\n") is None


@pytest.mark.parametrize(
    "text",
    [
        f"a: 'x\n{' ' * 200_000}y'\n",
        f'a: "x{" " * 200_000}y\n z"\n',
        f"a: x{' ' * 200_000}y\n",
        f"a: x\n{' ' * 200_000}#\n",
        "a: '" + "''" * 100_000,
        "a: x" + "\n  y" * 100_000 + ": z",
        "- " * 100_000,
        f"a: |\n  x\n{' ' * 200_000}\n",
    ],
    ids=lambda text: repr(text[:12]),
)
def test_the_time_is_linear_in_the_text(text: str) -> None:
    load_blocks(text.encode())  # would not end
