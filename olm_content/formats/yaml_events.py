"""A document of YAML from the events of libyaml: the measure of what YAML means here.

libyaml (through PyYAML's C parser) does the syntax, this module the meaning. It reads events
rather than going through PyYAML's nodes and constructors: half the time, and the meaning of
every scalar is ours to decide.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import yaml
from yaml._yaml import CParser

from olm_content.formats.yaml_errors import (
    MAX_DEPTH,
    TooManyValuesError,
    YamlError,
    too_many_values,
)
from olm_content.formats.yaml_scalars import (
    ScalarError,
    json_scalar,
    key_text,
    resolve_plain,
    resolve_tagged,
)

ALIASES_ALWAYS_FREE = 100
"""Values that aliases may add before their share of the document is looked at."""

NODES_ALWAYS_FREE = 1000
"""Values a document may have before the share of aliases in it is looked at."""

ALIAS_SHARE_FALLS_FROM, ALIAS_SHARE_FALLS_TO = 400_000, 4_000_000
"""Between these sizes of a document the share allowed to aliases falls from 99 % to 10 %."""

MAX_ALIASED_TEXT = 64 << 20
"""Characters that aliases may add: a value's size says nothing of how long its texts are."""

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


class EventReader:
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
    _HANDLERS: ClassVar[dict[type, Callable[["EventReader", Any], None]]] = {
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
