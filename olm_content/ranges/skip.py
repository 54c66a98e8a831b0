"""The dialect of `skipRange` in channel entries: blang semver v4 ranges.

A range is groups joined by `||` that stands between spaces; a group is comparators joined by
spaces. Versions are strict, prereleases compare like any other version. A trailing `x` is expanded
before versions are read, as text; the oddities of that (`1.x.x` ends with 1.0, `!=1.2.x` admits
nothing, `>1.0.0-fix` does not parse) are part of the dialect: catalogs were written against it.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from olm_content.formats.go_text import quote
from olm_content.ranges.comparators import Comparator
from olm_content.ranges.errors import RangeError
from olm_content.ranges.spans import Except, Span, after, before, exactly
from olm_content.versions import Key, Version, VersionError, parse_version

_PART = r"(?:[^ ]|(?<=[<>=]) +)+"  # a space right behind < > = does not separate
_INTEGER = r"[+-]?[0-9]{1,20}"
_MAX_INTEGER = 2**63 - 1
_BLANKS = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_EXPECTED = (
    "a skip range is comparators of full versions joined by spaces, such as >=1.0.0 <1.2.0, "
    "and || between spaces for `or`"
)


def _equal(key: Key) -> Comparator:
    return exactly(key)


def _not_equal(key: Key) -> Comparator:
    return Except(exactly(key))


_OPERATORS: Mapping[str, Callable[[Key], Comparator]] = MappingProxyType(
    {
        "": _equal,
        "=": _equal,
        "==": _equal,
        "!": _not_equal,
        "!=": _not_equal,
        ">": lambda key: Span(low=after(key)),
        ">=": lambda key: Span(low=before(key)),
        "<": lambda key: Span(high=before(key)),
        "<=": lambda key: Span(high=after(key)),
    }
)


class _Expansion(NamedTuple):
    """What an operator before a wildcard becomes: comparators at the series' start and end."""

    at_start: str | None
    at_end: str | None


_WILDCARD_OPERATORS: Mapping[str, _Expansion] = MappingProxyType(
    {
        "": _Expansion(">=", "<"),
        "=": _Expansion(">=", "<"),
        "==": _Expansion(">=", "<"),
        "!": _Expansion("<", ">="),
        "!=": _Expansion("<", ">="),
        ">": _Expansion(None, ">="),
        ">=": _Expansion(">=", None),
        "<": _Expansion("<", None),
        "<=": _Expansion(None, "<"),
    }
)
_NO_OPERATOR = _Expansion("", None)


class SkipRange(NamedTuple):
    """A parsed range; `text` is as the catalog has it."""

    text: str
    groups: tuple[tuple[Comparator, ...], ...]

    def matches(self, version: Version) -> bool:
        """Whether the version is in the range."""
        key = version.key
        return any(all(key in comparator for comparator in group) for group in self.groups)


def parse_skip_range(text: str) -> SkipRange:
    """The range a channel entry skips. Raises RangeError."""
    groups = _split_groups(_split_parts(text), text)
    terms = [[term for part in group for term in _expand(part, text)] for group in groups]
    return SkipRange(text, tuple(tuple(_comparator(t, text) for t in group) for group in terms))


class _Part(NamedTuple):
    """One comparator or `||`, blanks removed, and its offset in the range."""

    text: str
    position: int


def _split_parts(text: str) -> list[_Part]:
    """The parts between spaces; a single byte is no part, it is passed over (as there)."""
    return [
        _Part(found[0].replace(" ", ""), found.start())
        for found in re.finditer(_PART, text)
        if len(found[0].encode(errors="replace")) > 1
    ]


def _split_groups(parts: list[_Part], text: str) -> list[list[_Part]]:
    groups: list[list[_Part]] = [[]]
    for part in parts:
        if part.text != "||":
            groups[-1].append(part)
        elif not groups[-1]:
            raise _error("First element in range is '||'", text, part.position)
        else:
            groups.append([])
    if not groups[-1]:
        raise _error("Last element in range is '||'", text, len(text))
    return groups


def _expand(part: _Part, text: str) -> Iterator[_Part]:
    """The part with a wildcard version written out as comparators with full versions."""
    if "x" not in part.text:
        yield part
        return
    operator, version = _split_operator(part, text)
    start = version.replace(".x.x", ".x", 1).replace(".x", ".0", 1)
    if start.count(".") == 1:
        start += ".0"
    expansion = _WILDCARD_OPERATORS.get(operator, _NO_OPERATOR)
    if expansion.at_start is not None:
        yield _Part(expansion.at_start + start, part.position)
    if expansion.at_end is not None:
        yield _Part(expansion.at_end + _end_of_series(version, start), part.position)


def _split_operator(part: _Part, text: str) -> tuple[str, str]:
    digit = next((i for i, c in enumerate(part.text) if c.isdecimal()), None)
    if digit is None:
        message = f"Could not get version from string: {quote(part.text)}"
        raise _error(message, text, part.position)
    return part.text[:digit].strip(_BLANKS), part.text[digit:]


def _end_of_series(version: str, start: str) -> str:
    """The first version after a wildcard's series; empty, so no version, without a wildcard."""
    numbers = version.split(".")
    if numbers[-1] != "x" or len(numbers) not in {2, 3}:
        return ""
    place = len(numbers) - 2
    parts = start.split(".")
    if not re.fullmatch(_INTEGER, parts[place]) or abs(int(parts[place])) >= _MAX_INTEGER:
        return ""
    parts[place] = str(int(parts[place]) + 1)
    return ".".join(parts)


def _comparator(part: _Part, text: str) -> Comparator:
    operator, version = _split_operator(part, text)
    if operator not in _OPERATORS:
        problem = f"Could not parse comparator {quote(operator)} in {quote(operator + version)}"
        raise _error(_in_range(part, problem), text, part.position)
    try:
        return _OPERATORS[operator](parse_version(version).key)
    except VersionError as error:
        place = f"Could not parse version {quote(version)} in {quote(operator + version)}"
        message = _in_range(part, f"{place}: {error.message}")
        raise _error(message, text, part.position) from error


def _in_range(part: _Part, problem: str) -> str:
    return f"Could not parse Range {quote(part.text)}: {problem}"


def _error(message: str, text: str, position: int) -> RangeError:
    return RangeError(message, text=text, position=position, expected=_EXPECTED)
