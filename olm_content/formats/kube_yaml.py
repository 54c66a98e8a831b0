"""YAML and JSON documents to plain JSON values, read as Kubernetes' own tools read them.

Go's sigs.k8s.io/yaml is the reference: a port of libyaml with rules of its own for scalars
(`yaml_scalars`). The result is always what JSON can say: keys are strings, whole numbers are
integers, NaN and infinities are errors.

libyaml (through PyYAML's C parser) does the syntax, this module the meaning. It reads events
rather than going through PyYAML's nodes and constructors: half the time, and the meaning of
every scalar is ours to decide. What is written as nearly all is, `yaml_blocks` reads faster.
"""

import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import orjson
import yaml
from yaml._yaml import CParser

from olm_content.formats.yaml_blocks import load_blocks
from olm_content.formats.yaml_scalars import (
    ScalarError,
    int64,
    json_scalar,
    key_text,
    resolve_plain,
    resolve_tagged,
)
from olm_runtime.errors import TerminalError, bounded

MAX_DEPTH = 250
"""Nesting beyond this is refused: no manifest comes near, and encoders recurse."""

ALIASES_ALWAYS_FREE = 100
"""Values that aliases may add before their share of the document is looked at."""

NODES_ALWAYS_FREE = 1000
"""Values a document may have before the share of aliases in it is looked at."""

ALIAS_SHARE_FALLS_FROM, ALIAS_SHARE_FALLS_TO = 400_000, 4_000_000
"""Between these sizes of a document the share allowed to aliases falls from 99 % to 10 %."""

MAX_ALIASED_TEXT = 64 << 20
"""Characters that aliases may add: a value's size says nothing of how long its texts are."""

BAD_SEPARATOR = "invalid Yaml document separator"
"""How the message begins when a line begins like a separator and goes on."""

JSON_SNIFF_BYTES = 4096
"""A brace as first character within so many bytes makes a stream JSON until proven otherwise."""


class YamlError(TerminalError):
    """Text that is no YAML; `line` is 1-based, 0 when unknown; `document` is 1-based.

    `go_message` is what the reference says, which counts lines from the document's begin.
    """

    def __init__(
        self, message: str, *, document: int = 1, line: int = 0, go_message: str = ""
    ) -> None:
        super().__init__(message)
        self.document = document
        self.line = line
        self.go_message = go_message or message


class TooManyValuesError(YamlError):
    """A document of more values than the caller lets it have."""


def too_many_values(most: int) -> str:
    """How the message ends."""
    return f"holds more than {most} values"


def load_all(
    data: bytes, *, unique_keys: bool = False, max_values: int | None = None
) -> Iterator[Any]:
    """Every document of a stream, empty ones (null) left out.

    Documents are separated as k8s.io/apimachinery separates them: by lines that begin with
    `---`; JSON values may also simply follow each other. A key given twice keeps its last
    value, as in every Kubernetes tool, unless `unique_keys` makes that an error.
    Values under an anchor are shared, not copied: treat the result as read-only. A YAML document
    of more than `max_values` is a TooManyValuesError.

    Raises YamlError, with the number of the document and the line in the stream.
    """
    if data[:JSON_SNIFF_BYTES].lstrip().startswith(b"{") and not unique_keys:
        values = _json_values(data)
        if values is not None:
            yield from values
            return
    for number, (first_line, chunk) in enumerate(_documents(data), start=1):
        value = None if unique_keys else load_blocks(chunk)
        if value is not None:
            yield value
            continue
        try:
            value = _Document(chunk, unique_keys=unique_keys, max_values=max_values).load()
        except YamlError as error:
            line = error.line + first_line if error.line else 0
            where = f"line {line}: " if line else ""
            raise type(error)(
                f"yaml: {where}{error.message}",
                document=number,
                line=line,
                go_message=error.go_message,
            ) from error.__cause__
        if value is not None:
            yield value


def json_texts(data: bytes) -> list[str]:
    """The JSON values that a stream begins with, as they are written there; nulls left out."""
    if not data[:JSON_SNIFF_BYTES].lstrip().startswith(b"{"):
        return []
    texts = []
    text = data.decode(errors="replace")
    position = _skip_space(text, 0)
    while position < len(text):
        begin = position
        try:
            value, end = _STREAM_DECODER.raw_decode(text, begin)
        except (ValueError, RecursionError):
            break
        if value is not None:
            texts.append(text[begin:end])
        position = _skip_space(text, end)
    return texts


def _json_values(data: bytes) -> list[Any] | None:
    """The JSON values that make up the whole of `data`; None if it is something else."""
    try:
        values = _json_stream(data) if _MAYBE_LONG.search(data) else [orjson.loads(data)]
    except orjson.JSONDecodeError:
        values = _json_stream(data)
    if any(map(_too_deep, values)):
        raise YamlError(f"json: exceeded max depth of {MAX_DEPTH}")
    return values or None


def _json_stream(data: bytes) -> list[Any]:
    """JSON values one after the other; none if there is anything else between them."""
    values: list[Any] = []
    try:
        text = data.decode()
        position = _skip_space(text, 0)
        while position < len(text):
            value, position = _STREAM_DECODER.raw_decode(text, position)
            values.append(value)
            position = _skip_space(text, position)
    except (ValueError, RecursionError):
        return []
    return [value for value in values if value is not None]


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _skip_space(text: str, position: int) -> int:
    found = _NOT_SPACE.search(text, position)
    return found.start() if found else len(text)


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [item for parent in level for item in _children(parent)]
        if not level:
            return False
    return True


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _documents(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The documents of a stream with the number of lines before each."""
    start = line = 0
    for found in _SEPARATOR.finditer(data):
        if rest := found.group(1).strip():
            here = line + data.count(b"\n", start, found.start()) + 1
            if not rest.startswith(b"#"):
                text = f"{BAD_SEPARATOR}: {rest.decode(errors='replace')}"
                raise YamlError(text, line=here)
        if found.start() > start:
            yield line, data[start : found.start()]
        line += data.count(b"\n", start, found.end())
        start = found.end()
    if start < len(data):
        yield line, data[start:]


_MAYBE_LONG = re.compile(rb"[0-9]{19}")
"""Digits that may be more than 64 bits hold, which Go turns into a float and orjson does not."""
_NOT_SPACE = re.compile(r"[^ \t\r\n]")


def _integer(digits: str) -> int | float:
    """Raises ValueError for what not even a float can hold, as Go does."""
    if math.isinf(float(digits)):
        raise ValueError(f"{bounded(digits, 40)} is too large a number")
    return int64(int(digits))


_STREAM_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_int=_integer)
# Begins with its text, because that is what the matcher jumps to; `^` makes it look at every byte.
_SEPARATOR = re.compile(rb"---(?<![^\n]---)([^\n]*)(?:\n|\Z)")


# --- documents -------------------------------------------------------------------------------

_ENDS = (yaml.DocumentEndEvent, yaml.StreamEndEvent)
_SCALAR = yaml.ScalarEvent
_NO_KEY = object()
_MERGE = object()
MERGE_TAG = "tag:yaml.org,2002:merge"


@dataclass(slots=True)
class _Frame:
    """A collection being read: its container and, in a mapping, the key that waits."""

    container: Any
    anchor: str | None
    first_node: int
    key: Any = _NO_KEY
    merged: bool = False


@dataclass(slots=True)
class _Anchored:
    """A value under an anchor and how many values it is made of."""

    value: Any
    size: int
    _text: int | None = None

    def text_length(self) -> int:
        """Characters in its texts; looked at when the first alias asks."""
        if self._text is None:
            self._text = _text_length(self.value)
        return self._text


class _Document:
    """One document, built from the parser's events with a stack of open collections."""

    def __init__(self, chunk: bytes, *, unique_keys: bool, max_values: int | None = None) -> None:
        # The reference reads by lines and ends the last one itself, which block scalars show.
        self._parser = CParser(chunk if chunk.endswith(b"\n") else chunk + b"\n")
        self._unique_keys = unique_keys
        self._max_values = sys.maxsize if max_values is None else max_values
        self._stack: list[_Frame] = []
        self._top = _Frame([], None, 0)
        self._anchors: dict[str, _Anchored | None] = {}  # None: begun, not complete
        self._nodes = 0
        self._from_aliases = self._aliased_text = 0

    def load(self) -> Any:
        """The value of the first document; what follows a `...` line is not read."""
        get_event, handler_of, scalar = self._parser.get_event, self._HANDLERS.get, self._scalar
        event: Any = None
        try:
            while (kind := type(event := get_event())) not in _ENDS:
                if self._nodes > self._max_values:
                    raise TooManyValuesError(too_many_values(self._max_values))
                if kind is _SCALAR:  # most events are
                    scalar(event)
                elif (handler := handler_of(kind)) is not None:
                    handler(self, event)
        except yaml.YAMLError as error:
            raise _syntax_error(error) from error
        except (ScalarError, YamlError) as error:
            line = getattr(getattr(event, "start_mark", None), "line", -1) + 1
            prefix = "" if isinstance(error, ScalarError) else "yaml: "
            refusal = type(error) if isinstance(error, YamlError) else YamlError
            raise refusal(str(error), line=line, go_message=f"{prefix}{error}") from error
        finally:
            self._parser.dispose()
        root: list[Any] = self._top.container
        return root[0] if root else None

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        text = event.value
        value: Any = text
        if event.tag is not None:
            value = resolve_tagged(event.tag, text)
        elif event.implicit[0]:
            value = resolve_plain(text)
        self._nodes += 1
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchored(value, 1)
        # What `_add` would do: most scalars are texts, and a call for each is felt.
        top = self._top
        if top.key is not _NO_KEY:
            if type(value) is str and top.key is not _MERGE and not self._unique_keys:
                top.container[top.key] = value
                top.key = _NO_KEY
                return
        elif text == "<<" and _is_merge(event):
            value = _MERGE
        elif type(value) is str and type(top.container) is dict:
            top.key = value
            return
        self._add(value)

    def _add(self, value: Any, *, aliased: bool = False) -> None:
        """Put a complete value where it belongs: into a list, or as a key, or under a key."""
        top = self._top
        container, key = top.container, top.key
        if type(container) is list:
            container.append("<<" if value is _MERGE else json_scalar(value))
        elif key is _NO_KEY:
            top.key = value if type(value) is str or value is _MERGE else key_text(value)
        elif key is _MERGE:
            _merge(container, value, aliased=aliased)
            top.key, top.merged = _NO_KEY, True
        else:
            if self._unique_keys and key in container and not top.merged:
                raise YamlError(f'key "{key}" already set in map')
            container[key] = value if type(value) is str else json_scalar(value)
            top.key = _NO_KEY

    def _begin_mapping(self, event: yaml.MappingStartEvent) -> None:
        self._begin({}, event.anchor)

    def _begin_sequence(self, event: yaml.SequenceStartEvent) -> None:
        self._begin([], event.anchor)

    def _begin(self, container: Any, anchor: str | None) -> None:
        if len(self._stack) >= MAX_DEPTH:
            raise YamlError(f"exceeded max depth of {MAX_DEPTH}")
        if anchor is not None:
            self._anchors[anchor] = None
        self._stack.append(self._top)
        self._top = _Frame(container, anchor, self._nodes)
        self._nodes += 1

    def _end(self, _: yaml.CollectionEndEvent) -> None:
        done, self._top = self._top, self._stack.pop()
        if done.anchor is not None:
            self._anchors[done.anchor] = _Anchored(done.container, self._nodes - done.first_node)
        self._add(done.container)

    def _alias(self, event: yaml.AliasEvent) -> None:
        if event.anchor not in self._anchors:
            raise YamlError(f"unknown anchor '{event.anchor}' referenced")
        anchored = self._anchors[event.anchor]
        if anchored is None:
            raise YamlError(f"anchor '{event.anchor}' value contains itself")
        self._nodes += 1 + anchored.size
        self._from_aliases += anchored.size
        if self._too_many_aliases() or self._too_much_text(anchored):
            raise YamlError("document contains excessive aliasing")
        self._add(anchored.value, aliased=True)

    def _too_many_aliases(self) -> bool:
        """Whether expanding the aliases would multiply the document beyond reason."""
        if self._from_aliases <= ALIASES_ALWAYS_FREE or self._nodes <= NODES_ALWAYS_FREE:
            return False
        return self._from_aliases / self._nodes > _allowed_alias_share(self._nodes)

    def _too_much_text(self, aliased: _Anchored) -> bool:
        self._aliased_text += aliased.text_length()
        return self._aliased_text > MAX_ALIASED_TEXT

    # Functions of the class: methods bound to a document would be a cycle, and its memory be held
    # until the collector comes by.
    _HANDLERS: ClassVar[dict[type, Callable[["_Document", Any], None]]] = {
        yaml.MappingStartEvent: _begin_mapping,
        yaml.SequenceStartEvent: _begin_sequence,
        yaml.MappingEndEvent: _end,
        yaml.SequenceEndEvent: _end,
        yaml.AliasEvent: _alias,
    }


def _allowed_alias_share(nodes: int) -> float:
    """How much of a document may come from aliases: all but 1 % of a small one, 10 % of a huge."""
    beyond = (nodes - ALIAS_SHARE_FALLS_FROM) / (ALIAS_SHARE_FALLS_TO - ALIAS_SHARE_FALLS_FROM)
    return 0.99 - 0.89 * min(max(beyond, 0.0), 1.0)


def _text_length(value: Any) -> int:
    """Characters in all texts of a value, shared ones as often as they are there."""
    length, pending = 0, [value]
    while pending:
        item = pending.pop()
        if type(item) is str:
            length += len(item)
        elif type(item) is dict:
            length += sum(map(len, item))
            pending += item.values()
        elif type(item) is list:
            pending += item
    return length


def _is_merge(event: yaml.ScalarEvent) -> bool:
    return event.implicit[0] or event.tag == MERGE_TAG


def _merge(container: dict[str, Any], value: Any, *, aliased: bool) -> None:
    """`<<`: add the keys of a mapping, or of several of which earlier ones win."""
    several = isinstance(value, list) and not aliased
    for source in reversed(value) if several else (value,):
        if not isinstance(source, dict):
            raise YamlError("map merge requires map or sequence of maps as the value")
        container.update(source)


def _syntax_error(error: yaml.YAMLError) -> YamlError:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    return YamlError(
        str(problem),
        line=mark.line + 1 if mark else 0,
        go_message=f"yaml: {_go_line(error)}{problem}",
    )


def _go_line(error: yaml.YAMLError) -> str:
    """Where the reference says a syntax error is; it counts from 0 and leaves that out."""
    problem, context = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    if problem and problem.line:
        return f"line {problem.line + isinstance(error, yaml.scanner.ScannerError)}: "
    return f"line {context.line}: " if context and context.line else ""
