"""Records as text: JSON with four spaces, or YAML documents, as upstream's tool writes them."""

import re
from typing import Any

import orjson

from olm_content.formats.canonical_json import go_number
from olm_content.formats.yaml_text import dump_all

_MAY_HAVE_EXPONENT = re.compile(rb"e[-+]?[0-9]+,?\n")
"""Looks for one character, so it costs nothing; what ends otherwise holds no number."""
_SEPARATORS = ((b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"))
# Each number stands alone at the end of its line, so none inside a string is taken for one.
_EXPONENT = re.compile(
    rb'(?m)^( *(?:"(?:[^"\\]|\\.)*": )?)'
    rb"(-?[0-9]+(?:\.[0-9]+)?e[-+]?[0-9]+)(?=,?$)"
)


def json_text(value: Any) -> bytes:
    """One value over several lines, with a line break at its end."""
    text = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    if _MAY_HAVE_EXPONENT.search(text):
        text = _EXPONENT.sub(lambda found: found[1] + go_number(float(found[2])).encode(), text)
    text = _indented(text)
    for raw, escaped in _SEPARATORS:
        if raw in text:
            text = text.replace(raw, escaped)
    return text


def _indented(text: bytes) -> bytes:
    """Four spaces a level in place of two. Line breaks inside strings are escaped."""
    lines = text.split(b"\n")
    return b"\n".join([b" " * (len(line) - len(line.lstrip(b" "))) + line for line in lines])


def yaml_text(value: Any) -> bytes:
    """One document with its separator before it; keys sorted, as upstream's are."""
    return b"---\n" + dump_all([value], sort_keys=True).encode()
