"""File-based catalogs: bytes to blobs.

A blob keeps nothing but its canonical form: compact JSON with sorted keys and numbers as upstream
re-encodes them, so that the same catalog has the same bytes whatever it was written in. Input is
taken piece by piece; memory is bounded by the largest document, not by the file.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, TypeVar

import orjson

from olm_content.fbc.limits import MAX_DOCUMENT_BYTES
from olm_content.formats.canonical_json import CanonicalError, canonical
from olm_content.formats.json_documents import leading_values
from olm_content.formats.kube_yaml import TooManyValuesError, YamlError, load_all, too_many_values
from olm_runtime.errors import TransientError, bounded

VALUES_ALWAYS_FREE = 1_000_000
BYTES_A_VALUE = 32
"""Of a larger limit. Two bytes of text are a list or a map, which takes fifty times that."""
RAISE_DOCUMENT_BYTES = "if you trust the image, start catalogd with --max-document-bytes"

EMPTY = b"null"
"""The canonical form of a document that says nothing."""

T = TypeVar("T")

_META_KEYS = ("schema", "package", "name")

# Up to each character that begins a value, or the end, so that no byte is looked at twice; what is
# inside a string is passed over.
_JSON_VALUE = re.compile(rb'(?:[^",{\[]++|"(?:[^"\\]++|\\.)*+"?+)*+(?:[,{\[]|\Z)', re.DOTALL)
_OPENING = re.compile(rb"[ \t\r\n]*+\{")
_NOT_BLANK = re.compile(rb"\S")
# Between the brackets only white space and at least one line break: inside a JSON string a raw
# line break is forbidden, and between values there is a comma, so this is always a boundary.
_JSON_BOUNDARY = re.compile(rb"\}[ \t\r]*\n(?:---[ \t\r]*\n)?\s*(?=\{)")
# A whole line. Begins with its text, because that is what the matcher jumps to.
_YAML_BOUNDARY = re.compile(rb"---(?<![^\n]---)[ \t\r]*\n")
_OVERLAP = 64
"""A boundary cut by the end of a piece is found when the search restarts this far back."""


class FbcError(TransientError):
    """A catalog that cannot be read: file, document and line are in the message.

    `path`, `line` and `fault` say the same one by one; empty, 0 and the message where that is not
    known. Transient, because the tag may move to a repaired image.
    """

    def __init__(
        self, message: str, *, hint: str = "", path: str = "", line: int = 0, fault: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.path = path
        self.line = line
        self.fault = fault or message


@dataclass(frozen=True, slots=True)
class Blob:
    """One object of a catalog. `raw` is canonical JSON without a line break at its end.

    `line` is the first line of its document in its file, counted from 1.
    """

    schema: str
    package: str
    name: str
    raw: bytes
    line: int = field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class _Document:
    """A piece of a file: its number and first line, both counted from 1."""

    text: bytes
    number: int
    line: int


def parse(data: bytes, *, path: str) -> Iterator[Blob]:
    """The blobs of a file, in order. `path` names the file in errors. Raises FbcError."""
    return parse_pieces((data,), path=path)


def parse_pieces(
    pieces: Iterable[bytes],
    *,
    path: str,
    document_bytes: int = MAX_DOCUMENT_BYTES,
    part: tuple[int, int] = (0, 1),
    empty_too: bool = False,
) -> Iterator[Blob]:
    """As `parse`, for a file that arrives in pieces of any size.

    A document larger than `document_bytes` is an error, and one of more values than such a document
    may have. Of the parts that documents are dealt to
    in turn, `part` says which one to read (from 0) and how many there are. Documents that say
    nothing are passed over; with `empty_too` they are blobs without a schema.
    """
    mine, parts = part
    for document in _documents(pieces, path, document_bytes):
        if document.number % parts != mine:
            continue
        if len(document.text) > document_bytes:
            raise _too_large(path, document, document_bytes)
        most = max(VALUES_ALWAYS_FREE, document_bytes // BYTES_A_VALUE)
        values = _values(document, path, most)
        document = replace(document, text=b"")  # noqa: PLW2901 - is not held while blobs are used
        found = False
        for value in values:
            found = True
            blob = _blob(value, document, path)
            del value
            yield blob
        if empty_too and not found:
            yield Blob("", "", "", EMPTY, document.line)


def _documents(pieces: Iterable[bytes], path: str, limit: int) -> Iterator[_Document]:
    """Cuts a file at document boundaries; what the boundary is follows from its first byte."""
    pending = bytearray()
    boundary: re.Pattern[bytes] | None = None
    number, line, searched = 1, 1, 0
    begun = False  # a separator that no text is before is the begin of the next document
    for piece in pieces:
        pending += piece
        boundary = boundary or _boundary_of(pending)
        cuts = boundary.finditer(pending, max(0, searched - _OVERLAP)) if boundary else ()
        start = 0
        found: list[_Document] = []
        for cut in cuts:
            begun = boundary is _YAML_BOUNDARY and cut.start() == start and not begun
            if not begun:
                end = cut.start() + (boundary is _JSON_BOUNDARY)
                found.append(_document(pending, start, end, number, line))
                number += 1
            line += pending.count(b"\n", start, cut.end())
            start = cut.end()
        del cuts, pending[:start]
        yield from _consumed(found)
        searched = len(pending)
        if searched > limit:
            raise _too_large(path, _Document(b"", number, line), limit)
    if _NOT_BLANK.search(pending) or (boundary is not _JSON_BOUNDARY and (begun or pending)):
        found = [_document(pending, 0, len(pending), number, line)]
        del pending
        yield from _consumed(found)


def _consumed(items: list[T]) -> Iterator[T]:
    """The items; each is let go when it is taken, for it may be large."""
    items.reverse()
    while items:
        yield items.pop()


def _too_large(path: str, document: _Document, limit: int) -> FbcError:
    return _error(path, document, f"is larger than {limit} bytes", hint=RAISE_DOCUMENT_BYTES)


def _boundary_of(start: bytearray) -> re.Pattern[bytes] | None:
    first = start.lstrip()[:1]
    if not first:
        return None
    return _JSON_BOUNDARY if first == b"{" else _YAML_BOUNDARY


def _document(text: bytearray, start: int, end: int, number: int, line: int) -> _Document:
    """What is between two places of a text, which is copied once: it may be large."""
    opening = _OPENING.match(text, start, end)
    begin = opening.end() - 1 if opening else start
    skipped = text.count(b"\n", start, begin)
    return _Document(bytes(memoryview(text)[begin:end]), number, line + skipped)


def _values(document: _Document, path: str, most: int) -> Iterator[Any]:
    if document.text[:1] != b"{":
        return _from_yaml(document, path, most)
    if len(document.text) > most:  # else there cannot be more
        places = _JSON_VALUE.finditer(document.text)
        if next(islice(places, most, None), None) is not None:
            raise _error(path, document, too_many_values(most), hint=RAISE_DOCUMENT_BYTES)
    return _consumed(_from_json(document, path, most))


def _from_json(document: _Document, path: str, most: int) -> list[Any]:
    try:
        return [orjson.loads(document.text)]
    except orjson.JSONDecodeError as refused:
        values, rest = leading_values(document.text)
        if not rest.strip():
            return values
        if not values:
            return _flow_style(document, path, refused, most)
        gap = rest[: len(rest) - len(rest.lstrip())]
        if "\n" not in gap:
            raise _error(path, document, str(refused.msg), line=refused.lineno) from refused
        read = document.text.decode(errors="replace").removesuffix(rest)
        line = document.line + read.count("\n")
        remainder = _Document(rest.encode(), document.number, line)
        return [*values, *_from_yaml(remainder, path, most)]


def _flow_style(
    document: _Document, path: str, refused: orjson.JSONDecodeError, most: int
) -> list[Any]:
    """YAML may begin with a brace too; if it is none, the fault of the JSON is the better one."""
    try:
        return list(load_all(document.text, max_values=most))
    except YamlError as error:
        raise _error(path, document, str(refused.msg), line=refused.lineno) from error


def _from_yaml(document: _Document, path: str, most: int) -> Iterator[Any]:
    try:
        yield from load_all(document.text, max_values=most)
    except YamlError as error:
        fault = error.message.removeprefix(f"yaml: line {error.line}: ")  # counted in the document
        hint = RAISE_DOCUMENT_BYTES if isinstance(error, TooManyValuesError) else ""
        raise _error(path, document, fault, line=error.line, hint=hint) from error


def _blob(value: Any, document: _Document, path: str) -> Blob:
    if not isinstance(value, dict):
        kind = type(value).__name__
        raise _error(path, document, f"expected an object with a schema, got {kind}")
    try:
        schema, package, name = _meta(value)
        # Copied, because orjson leaves many times what it has written reserved behind it.
        raw = bytes(memoryview(canonical(value)))
        return Blob(schema, package, name, raw, document.line)
    except (CanonicalError, _MetaError) as error:
        raise _error(path, document, str(error)) from error


class _MetaError(Exception):
    """What is wrong with schema, package or name."""


def _meta(value: dict[str, Any]) -> tuple[str, str, str]:
    """Schema, package and name; keys match whatever their case, and must not collide."""
    spellings: dict[str, list[str]] = {}
    for key in value:
        spellings.setdefault(key.casefold(), []).append(key)
    for folded, keys in sorted(spellings.items()):
        if len(keys) > 1:
            raise _MetaError(f'duplicate keys for key "{folded}": [{" ".join(sorted(keys))}]')
    schema, package, name = (
        _text(value[spellings[key][0]], key) if key in spellings else "" for key in _META_KEYS
    )
    return schema, package, name


def _text(value: Any, key: str) -> str:
    if not isinstance(value, str):
        raise _MetaError(
            f'expected value for key "{key}" to be a string, got {type(value).__name__}'
        )
    return value


def _error(
    path: str, document: _Document, fault: str, *, line: int = 1, hint: str = ""
) -> FbcError:
    at, said = document.line + max(line, 1) - 1, bounded(fault, 300)
    message = f"{path}: document {document.number}, line {at}: {said}"
    return FbcError(message, hint=hint, path=path, line=at, fault=said)
