"""Values of a definition whose text is not as an API server would write it.

Upstream compares the text of `default`, `enum` and `example`: that of the old definition as it was
given, that of the new one as Go writes it. In a cluster both are Go's. In a line of a batch the old
one need not be, and then answers agree with upstream's for the same line only if texts are
compared.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from api.objects import KubeObject, name_of
from olm_content.crds import Finding, Validator
from olm_content.crds.schema import ROOT, Node, Schema, flattened, text_of
from olm_content.formats import go_json
from olm_content.formats.go_text import listed

TEXTS = "\0texts"
"""Where `read_line` puts the texts: no field of a request is called so."""

_VALUE = re.compile(r'(?<!\\)"(default|enum|example)"\s*:\s*')
_ONE_VALUE = {"default": "default value", "example": "unknown change: example"}
_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


def read_line(line: bytes) -> Any:
    """The request of a line, with the texts of its old definition. Raises JSONDecodeError."""
    request = orjson.loads(line)
    if isinstance(request, dict):
        request[TEXTS] = dict(_unlike_go(_member(line.decode(), "old")))
    return request


def text_changes(old: KubeObject, new: KubeObject, texts: Mapping[str, str]) -> Iterator[Finding]:
    """A finding for each value that is the same in both, but not in its text."""
    after = _schemas(new)
    for version, schema in _schemas(old).items():
        if texts and version in after:
            for path, problem in _changes(schema, after[version], texts):
                yield Finding(name_of(new), Validator.CHANGE, problem, version, path)


def _changes(old: Schema, new: Schema, texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    after = {node.path: node.old for node in flattened(Node(ROOT, new, None))}
    for node in flattened(Node(ROOT, old, None)):
        before, now = node.old, after.get(node.path) or {}
        for keyword, what in _ONE_VALUE.items():
            key = text_of(before.get(keyword))
            if key in texts and keyword in now and key == text_of(now[keyword]):
                text = f"{texts[key]} to {go_json.dumps(now[keyword], sort_keys=True)}"
                yield node.path, f"{what} changed from {text}, in its text alone"
        remaining = {text_of(value) for value in now.get("enum") or ()}
        changed = [texts[key] for key in map(text_of, before.get("enum") or ()) if key in texts]
        removed = [text for text in changed if text_of(json.loads(text)) in remaining]
        if removed:
            yield node.path, f"allowed enum values removed: {listed(removed)}, in their text alone"


def _member(text: str, name: str) -> str:
    """The text of a member of a JSON object; empty if there is none."""
    position = _skip(text, _skip(text, 0) + 1)
    while text[position : position + 1] == '"':
        key, position = _DECODER.raw_decode(text, position)
        start = _skip(text, _skip(text, position) + 1)
        _, end = _DECODER.raw_decode(text, start)
        if key == name:
            return text[start:end]
        position = _skip(text, _skip(text, end) + 1)
    return ""


def _unlike_go(text: str) -> Iterator[tuple[str, str]]:
    """Each default, example and value of an enum, and its text, if Go would write another."""
    for match in _VALUE.finditer(text):
        start = match.end()
        if match[1] != "enum":
            yield from _if_unlike(text, start)
        elif text[start : start + 1] == "[":
            position = _skip(text, start + 1)
            while text[position : position + 1] not in ("]", ""):
                yield from _if_unlike(text, position)
                position = _skip(text, _DECODER.raw_decode(text, position)[1])
                position = _skip(text, position + (text[position : position + 1] == ","))


def _if_unlike(text: str, start: int) -> Iterator[tuple[str, str]]:
    value, end = _DECODER.raw_decode(text, start)
    if text[start:end] != go_json.dumps(value, sort_keys=True):
        yield text_of(value), text[start:end]


def _skip(text: str, position: int) -> int:
    """The position of the first character from there on that is no white space."""
    found = _SPACE.match(text, position)
    return found.end() if found else position


def _schemas(crd: KubeObject) -> dict[str, Schema]:
    return {
        str(version.get("name")): (version.get("schema") or {}).get("openAPIV3Schema") or {}
        for version in (crd.get("spec") or {}).get("versions") or ()
    }
