"""YAML and JSON documents to plain JSON values, read as Kubernetes' own tools read them.

Go's sigs.k8s.io/yaml is the reference: a port of libyaml with rules of its own for plain
scalars, which are those of YAML 1.1 with exceptions (no base-60 numbers, timestamps stay
strings, `y` and `n` are booleans). The result is always what JSON can say: keys are strings,
whole numbers are integers, NaN and infinities are errors.

libyaml (through PyYAML's C parser) does the syntax, this module the meaning. It reads events
rather than going through PyYAML's nodes and constructors: half the time, and the meaning of
every scalar is ours to decide.
"""

import base64
import binascii
import json
import re
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn

import orjson
import yaml
from yaml._yaml import CParser

from olm_shared.errors import TerminalError

MAX_DEPTH = 250
"""Nesting beyond this is refused: no manifest comes near, and encoders recurse."""

ALIASES_ALWAYS_FREE = 100
"""Values that aliases may add before their share of the document is looked at."""

NODES_ALWAYS_FREE = 1000
"""Values a document may have before the share of aliases in it is looked at."""

ALIAS_SHARE_FALLS_FROM, ALIAS_SHARE_FALLS_TO = 400_000, 4_000_000
"""Between these sizes of a document the share allowed to aliases falls from 99 % to 10 %."""

JSON_SNIFF_BYTES = 4096
"""A brace as first character within so many bytes makes a stream JSON until proven otherwise."""


class YamlError(TerminalError):
    """Text that is no YAML; `line` is 1-based, 0 when unknown; `document` is 1-based."""

    def __init__(self, message: str, *, document: int = 1, line: int = 0) -> None:
        super().__init__(message)
        self.document = document
        self.line = line


def load_all(data: bytes, *, unique_keys: bool = False) -> Iterator[Any]:
    """Every document of a stream, empty ones (null) left out.

    Documents are separated as k8s.io/apimachinery separates them: by lines that begin with
    `---`; JSON values may also simply follow each other. A key given twice keeps its last
    value, as in every Kubernetes tool, unless `unique_keys` makes that an error.
    Values under an anchor are shared, not copied: treat the result as read-only.

    Raises YamlError, with the number of the document and the line in the stream.
    """
    if data[:JSON_SNIFF_BYTES].lstrip().startswith(b"{") and not unique_keys:
        values = _json_values(data)
        if values is not None:
            yield from values
            return
    for number, (first_line, chunk) in enumerate(_documents(data), start=1):
        try:
            value = _Document(chunk, unique_keys=unique_keys).load()
        except YamlError as error:
            line = error.line + first_line if error.line else 0
            where = f"line {line}: " if line else ""
            message = f"yaml: {where}{error.message}"
            raise YamlError(message, document=number, line=line) from error.__cause__
        if value is not None:
            yield value


def _json_values(data: bytes) -> list[Any] | None:
    """The JSON values that make up the whole of `data`; None if it is something else."""
    try:
        values = [orjson.loads(data)]
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
                text = f"invalid Yaml document separator: {rest.decode(errors='replace')}"
                raise YamlError(text, line=here)
        if found.start() > start:
            yield line, data[start : found.start()]
        line += data.count(b"\n", start, found.end())
        start = found.end()
    if start < len(data):
        yield line, data[start:]


_NOT_SPACE = re.compile(r"[^ \t\r\n]")
_STREAM_DECODER = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_int=lambda digits: _int64(int(digits))
)
_SEPARATOR = re.compile(rb"^---([^\n]*)(?:\n|\Z)", re.MULTILINE)


# --- scalars ---------------------------------------------------------------------------------


_NAMED: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(
        "y Y yes Yes YES true True TRUE on On ON".split(),  # noqa: SIM905 - reads better
        True,
    ),
    **dict.fromkeys("n N no No NO false False FALSE off Off OFF".split(), False),  # noqa: SIM905
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}
_MAY_BE_NAMED = frozenset("yYnNtTfFoO~.+-")
_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|([1-9][0-9]*|0))")
_INTEGER_BASES = (16, 2, 8, 10)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_DOT_FLOAT = re.compile(r"\.[0-9]+(?:_[0-9]+)*(?:[eE][-+]?[0-9]+(?:_[0-9]+)*)?")
_TIMESTAMP = re.compile(
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
    r"(?:(?:[Tt]| )[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2})?)?"
)
_INT64_MIN, _INT64_MAX, _UINT64_MAX = -(2**63), 2**63 - 1, 2**64 - 1


@lru_cache(maxsize=8192)
def resolve_plain(text: str) -> Any:
    """What a plain (unquoted, untagged) scalar means: None, bool, int, float or str.

    Floats may be NaN or infinite here; whether that is an error depends on the place.
    """
    if not text:
        return None
    first = text[0]
    if first in _MAY_BE_NAMED and text in _NAMED:
        return _NAMED[text]
    if first in "0123456789+-":
        return _number(text.replace("_", ""), text)
    if first == "." and _DOT_FLOAT.fullmatch(text):
        return _finite_or(text, float(text))
    return text


def _number(plain: str, text: str) -> Any:
    """`plain` (underscores gone) as Go's ParseInt and ParseFloat see it, or else `text`."""
    if found := _INTEGER.fullmatch(plain):
        sign = -1 if found.group(1) == "-" else 1
        digits, base = next(
            (found.group(i), base) for i, base in enumerate(_INTEGER_BASES, 2) if found.group(i)
        )
        value = sign * int(digits, base)
        if _INT64_MIN <= value <= (_UINT64_MAX if not found.group(1) else _INT64_MAX):
            return value
    if _FLOAT.fullmatch(plain):
        return _finite_or(text, float(plain))
    return text


def _finite_or(text: str, value: float) -> float | str:
    """Digits beyond the range of a float are no number to Go, so they stay text."""
    return text if value in (float("inf"), float("-inf")) else value


def _int64(value: int) -> int | float:
    return value if _INT64_MIN <= value <= _INT64_MAX else float(value)


def _json_scalar(value: Any) -> Any:
    """A scalar after its journey through JSON text: whole numbers become integers."""
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise YamlError(f"json: unsupported value: {_go_float_name(value)}")
        return int(value) if value.is_integer() and abs(value) <= _INT64_MAX else value
    if isinstance(value, int) and not isinstance(value, bool):
        return _int64(value)
    return value


def _go_float_name(value: float) -> str:
    return "NaN" if value != value else ("+Inf" if value > 0 else "-Inf")


def _key_text(key: Any) -> str:
    """A mapping key as JSON needs it: numbers and booleans spelled out."""
    if isinstance(key, str):
        return key
    if key is True or key is False:
        return "true" if key else "false"
    if isinstance(key, int) and _INT64_MIN <= key <= _INT64_MAX:
        return str(key)
    if isinstance(key, float):
        return _float_key(key)
    shown = "nil" if key is None else str(key)
    raise YamlError(f"unsupported map key: {shown}")


_EXPONENT_FORM_FROM = 6


def _float_key(key: float) -> str:
    """Shortest digits that give the same 32-bit float, in Go's %g form."""
    if key != key:
        return ".nan"
    try:
        single = struct.unpack("f", struct.pack("f", key))[0]
    except OverflowError:
        single = float("inf") if key > 0 else float("-inf")
    if single in (float("inf"), float("-inf")):
        return ".inf" if single > 0 else "-.inf"
    for digits in range(1, 10):
        text = f"{single:.{digits}g}"
        if struct.unpack("f", struct.pack("f", float(text)))[0] == single:
            break
    mantissa, _, exponent = f"{float(text):.{digits - 1}e}".partition("e")
    if not -4 <= int(exponent) < _EXPONENT_FORM_FROM:
        return f"{mantissa}e{exponent}"
    fixed = f"{float(text):.{max(digits - 1 - int(exponent), 0)}f}"
    return fixed.rstrip("0").rstrip(".") if "." in fixed else fixed


_NO_KEY = object()
_MERGE = object()
_TAG = "tag:yaml.org,2002:"


def _resolve_tagged(tag: str, text: str) -> Any:
    """The value of a scalar with an explicit tag. Raises YamlError where text and tag differ."""
    name = tag.removeprefix(_TAG) if tag.startswith(_TAG) else ""
    if name == "str":
        return text
    if name == "binary":
        return _binary(text)
    check = _TAG_TYPES.get(name)
    if check is None:
        return text
    value = resolve_plain(text)
    if name == "float" and type(value) is int and value <= _INT64_MAX:
        value = float(value)
    if not check(value):
        raise YamlError(f"cannot decode !!{_tag_of(value)} `{text}` as a !!{name}")
    return value


def _binary(text: str) -> str:
    try:
        data = base64.b64decode(re.sub(r"[\r\n]", "", text), validate=True)
    except binascii.Error:
        raise YamlError("!!binary value contains invalid base64 data") from None
    return data.decode(errors="replace")


_TAG_TYPES: dict[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "bool": lambda value: isinstance(value, bool),
    "int": lambda value: type(value) is int,
    "float": lambda value: isinstance(value, float),
    "timestamp": lambda value: isinstance(value, str) and bool(_TIMESTAMP.fullmatch(value)),
}


def _tag_of(value: Any) -> str:
    names = {str: "str", bool: "bool", int: "int", float: "float", type(None): "null"}
    return names[type(value)]


# --- documents -------------------------------------------------------------------------------


@dataclass(slots=True)
class _Frame:
    """A collection being read: its container and, in a mapping, the key that waits."""

    container: Any
    anchor: str | None
    first_node: int
    key: Any = _NO_KEY
    merged: bool = False


@dataclass(frozen=True, slots=True)
class _Anchored:
    """A value under an anchor and how many values it is made of."""

    value: Any
    size: int


class _Document:
    """One document, built from the parser's events with a stack of open collections."""

    def __init__(self, chunk: bytes, *, unique_keys: bool) -> None:
        # The reference reads by lines and ends the last one itself, which block scalars show.
        self._parser = CParser(chunk if chunk.endswith(b"\n") else chunk + b"\n")
        self._unique_keys = unique_keys
        self._stack: list[_Frame] = []
        self._top = _Frame([], None, 0)
        self._anchors: dict[str, _Anchored | None] = {}  # None: begun, not complete
        self._nodes = 0
        self._from_aliases = 0
        self._handlers: dict[type, Callable[[Any], None]] = {
            yaml.ScalarEvent: self._scalar,
            yaml.MappingStartEvent: self._begin_mapping,
            yaml.SequenceStartEvent: self._begin_sequence,
            yaml.MappingEndEvent: self._end,
            yaml.SequenceEndEvent: self._end,
            yaml.AliasEvent: self._alias,
        }

    def load(self) -> Any:
        """The value of the first document; what follows a `...` line is not read."""
        get_event, handlers, event = self._parser.get_event, self._handlers, None
        ends = (yaml.DocumentEndEvent, yaml.StreamEndEvent)
        try:
            while (kind := type(event := get_event())) not in ends:
                handler = handlers.get(kind)
                if handler is not None:
                    handler(event)
        except yaml.YAMLError as error:
            raise _syntax_error(error) from error
        except YamlError as error:
            if event is not None and not error.line:
                error.line = getattr(event.start_mark, "line", -1) + 1
            raise
        finally:
            self._parser.dispose()
        root: list[Any] = self._top.container
        return root[0] if root else None

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        if event.tag is not None:
            value = _resolve_tagged(event.tag, event.value)
        elif event.implicit[0]:
            value = resolve_plain(event.value)
        else:
            value = event.value
        self._nodes += 1
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchored(value, 1)
        top = self._top
        if event.value == "<<" and top.key is _NO_KEY and _is_merge(event):
            value = _MERGE
        self._add(value)

    def _add(self, value: Any, *, aliased: bool = False) -> None:
        """Put a complete value where it belongs: into a list, or as a key, or under a key."""
        top = self._top
        container, key = top.container, top.key
        if type(container) is list:
            container.append("<<" if value is _MERGE else _json_scalar(value))
        elif key is _NO_KEY:
            top.key = value if value is _MERGE else _key_text(value)
        elif key is _MERGE:
            _merge(container, value, aliased=aliased)
            top.key, top.merged = _NO_KEY, True
        else:
            if self._unique_keys and key in container and not top.merged:
                raise YamlError(f'key "{key}" already set in map')
            container[key] = _json_scalar(value)
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
        if self._too_many_aliases():
            raise YamlError("document contains excessive aliasing")
        self._add(anchored.value, aliased=True)

    def _too_many_aliases(self) -> bool:
        """Whether expanding the aliases would multiply the document beyond reason."""
        if self._from_aliases <= ALIASES_ALWAYS_FREE or self._nodes <= NODES_ALWAYS_FREE:
            return False
        return self._from_aliases / self._nodes > _allowed_alias_share(self._nodes)


def _allowed_alias_share(nodes: int) -> float:
    """How much of a document may come from aliases: all but 1 % of a small one, 10 % of a huge."""
    beyond = (nodes - ALIAS_SHARE_FALLS_FROM) / (ALIAS_SHARE_FALLS_TO - ALIAS_SHARE_FALLS_FROM)
    return 0.99 - 0.89 * min(max(beyond, 0.0), 1.0)


def _is_merge(event: yaml.ScalarEvent) -> bool:
    return event.implicit[0] or event.tag == f"{_TAG}merge"


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
    return YamlError(str(problem), line=mark.line + 1 if mark else 0)
