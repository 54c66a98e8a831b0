"""YAML as tools write it, read line by line with one regular expression.

Catalogs and manifests are nearly always in block style: keys of plain letters, lists, and scalars
that are plain, quoted or literal blocks; lists of words may stand in a line. Such documents are
read here, in less than half the time that libyaml's events need. Anything else makes a document
unusual, and `kube_yaml` reads it by the events, which are the measure: what is read here is what
they say. The errors are theirs, too.
"""

import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

from olm_content.formats.yaml_scalars import NAMED_WORDS, ScalarError, json_scalar, resolve_plain

MAX_BYTES = 2 << 20
"""Larger documents are unusual: all their lines are held at once."""

_INSIDE = r"[^:\#\n]*+(?:(?::(?![ \n])|(?<![ ])\#)[^:\#\n]*+)*+"
"""The rest of a line of a plain scalar: no `: `, no ` #`."""
_DEEPER = r"\1(?(2)(?(3)[ ][ ]))[ ]++"
"""The indentation of a scalar's further lines: deeper than the key, or than the list's dash."""
_WORD = r"""(?:[A-Za-z0-9_/][A-Za-z0-9_./-]*+|'[^'\n]*+'|"[^"\\\n]*+")"""
"""An item of a list in a line."""
# Each repetition is possessive, so the time is linear in the text. The first group is bounded, and
# with it the depth of what is read.
_ENTRY = re.compile(
    rf"""
    ([ ]{{0,100}}) (-[ ])?
    (?: (?!(?:{"|".join(NAMED_WORDS)}):) ([A-Za-z_$][A-Za-z0-9_./-]{{0,200}}+) :(?=[ \n]) [ ]*+ )?
    (                                                             # a value, first of all plain
        (?: [^\s\-?:,\[\]{{}}\#&*!|>'"%@`] | -(?![ \n]) ) {_INSIDE}
        (?: \n{_DEEPER} (?=[^\#\n]) {_INSIDE} )*+
    |   ' [^']*+ (?: '' [^']*+ )*+ '
    |   " [^"\\]*+ (?: \\[\s\S] [^"\\]*+ )*+ "
    |   \|-?\n ({_DEEPER}) (?!\n)[^\n]*+ (?: \n\5[^\n]*+ | \n[ ]*+(?=\n) )*+
    |   \{{\}} | \[\] | \[ [ ]*+ {_WORD} (?: [ ]*+ , [ ]*+ {_WORD} )*+ [ ]*+ \]
    |   (?(3)|(?!))                                               # none, after a key
    )
    [ ]*+ (?: (?<=[ ])\#[^\n]*+ )? \n
    (?: [ ]*+ (?:\#[^\n]*+)? \n )*+                               # empty lines and comments
    | [\s\S]++                                                    # all the rest is unusual
    """,
    re.VERBOSE,
)
_EMPTY_LINES = re.compile(r"(?:[ ]*+(?:#[^\n]*+)?\n)*+")
_USUAL_BYTES = bytes([ord("\n"), *range(ord(" "), 0x7F), *range(0x80, 0x100)])
# In UTF-8: control characters, other line breaks, marks of byte order, what is no character.
_UNUSUAL_CHARACTERS = rb"\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]|\xef\xbb\xbf|\xef\xbf[\xbe\xbf]"
# Blanks that no line break follows match, too: else each of them would be tried by itself.
_FOLD = re.compile(r" *+\n[ \n]*+| {2,}+")
_ESCAPE_OR_FOLD = rf"\\(?:u[0-9a-fA-F]{{4}}|U[0-9a-fA-F]{{8}}|\n[ \n]*+|[^\n])|{_FOLD.pattern}"
_ESCAPES = {r"\n": "\n", r"\t": "\t", r"\r": "\r", r"\"": '"', r"\\": "\\", r"\ ": " "}
_SURROGATES = range(0xD800, 0xE000)


class _UnusualError(Exception):
    """The document is not of the form that is read here."""


def load_blocks(document: bytes) -> dict[str, Any] | None:
    """The mapping that a document is, without a separator; None if it is unusual."""
    if (
        len(document) > MAX_BYTES
        or document.translate(None, _USUAL_BYTES)
        or b"\n..." in document
        or (not document.isascii() and re.search(_UNUSUAL_CHARACTERS, document))
    ):
        return None
    try:
        return _load(document.decode().removesuffix("\n") + "\n")
    except (UnicodeDecodeError, _UnusualError, ScalarError):
        return None


def _load(text: str) -> dict[str, Any] | None:
    """The mapping; None if there is nothing. Raises _UnusualError, ScalarError."""
    root: dict[str, Any] = {}
    top: Any = root  # the innermost open collection, and the column of its keys or dashes
    level = 0
    outer: list[tuple[int, Any]] = []
    waiting = ""  # the last key, if its value may begin in the next line
    for indent, dash, key, value, deeper in _ENTRY.findall(_EMPTY_LINES.sub("", text, count=1)):
        column = len(indent)
        if waiting and (column > level or (dash and column == level)):
            outer.append((level, top))
            begun: Any = [] if dash else {}
            top[waiting] = begun
            level, top = column, begun
        while column < level or (column == level and not dash and type(top) is list):
            level, top = outer.pop()
        expected: Any = list if dash else dict
        if column != level or type(top) is not expected or not (dash or key):
            raise _UnusualError
        if not key:
            top.append(_scalar(value, deeper))
            waiting = ""
            continue
        if dash:
            outer.append((level, top))
            item: dict[str, Any] = {}
            top.append(item)
            level, top = level + len(dash), item
        top[key] = _scalar(value, deeper) if value else None
        waiting = "" if value else key
    return root or None


def _scalar(text: str, deeper: str) -> Any:
    """What a scalar or an empty collection says; `deeper` is the indentation of a block."""
    if text[0] in _READERS:
        return _READERS[text[0]](text, deeper)
    if "\n" in text or text[-1] == " ":
        text = _FOLD.sub(_folded, text).rstrip(" ")
    value = resolve_plain(text)
    return value if type(value) is str else json_scalar(value)


def _single_quoted(text: str, _: str) -> str:
    inside = text[1:-1].replace("''", "'")
    return _FOLD.sub(_folded, inside) if "\n" in inside else inside


def _double_quoted(text: str, _: str) -> str:
    inside = text[1:-1]
    return re.sub(_ESCAPE_OR_FOLD, _meant, inside) if "\\" in inside or "\n" in inside else inside


def _folded(found: re.Match[str]) -> str:
    """One line break is a space, of several one is left out."""
    breaks = found.group().count("\n")
    return "\n" * (breaks - 1) or " " if breaks else found.group()


def _meant(found: re.Match[str]) -> str:
    """What an escape or a line break in double quotes means. Raises _UnusualError."""
    text = found.group()
    if not text.startswith("\\"):
        return _folded(found)
    if text[1] == "\n":  # it joins lines
        return "\n" * (text.count("\n") - 1)
    if text in _ESCAPES:
        return _ESCAPES[text]
    digits = text[len(r"\u") :]
    code = int(digits, 16) if digits else _SURROGATES.start
    if code in _SURROGATES or code > sys.maxunicode:
        raise _UnusualError
    return chr(code)


def _literal_block(text: str, deeper: str) -> str:
    header, _, body = text.partition("\n")
    lines = [line[len(deeper) :] for line in body.split("\n")]
    return "\n".join(lines).rstrip("\n") + ("" if header == "|-" else "\n")


def _list_in_a_line(text: str, _: str) -> list[Any]:
    return [_scalar(word, "") for word in re.findall(_WORD, text)]


_READERS: Mapping[str, Callable[[str, str], Any]] = {
    "'": _single_quoted,
    '"': _double_quoted,
    "|": _literal_block,
    "{": lambda _, __: {},
    "[": _list_in_a_line,
}
