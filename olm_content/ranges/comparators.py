"""What each operator of the extension dialect admits, as spans of the version order."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol

from msgspec import Struct

from olm_content.ranges.spans import Cut, Except, Span, after, before, exactly
from olm_content.versions import Key, Version, floor

ALL_WRITTEN = 3


class Comparator(Protocol):
    """A set of versions."""

    def __contains__(self, key: Key) -> bool:
        """Whether versions of this precedence are in it."""


class Operand(NamedTuple):
    """The version behind an operator: unwritten parts and wildcards are zero.

    `written` counts the leading numbers that were written: 3 for 1.2.3, 2 for 1.2 and 1.2.x,
    1 for 1, 0 for x and *.
    """

    version: Version
    written: int

    @property
    def key(self) -> Key:
        """The precedence of the version."""
        return self.version.key

    @property
    def numbers(self) -> tuple[int, int, int]:
        """Major, minor, patch."""
        return self.version.major, self.version.minor, self.version.patch

    @property
    def prerelease(self) -> bool:
        """Whether a prerelease is named."""
        return bool(self.version.prerelease)


class ExceptSeries(Struct, frozen=True):
    """All but the versions of a series that have the operand's prerelease, or none as it has."""

    series: Span
    prerelease: object

    def __contains__(self, key: Key) -> bool:
        return key not in self.series or key[3:] != self.prerelease


def _series(operand: Operand) -> tuple[Cut, Cut]:
    """The cuts around all versions that share the written major, or major and minor."""
    major, minor, _ = operand.numbers
    if operand.written == 1:
        return before(floor(major)), before(floor(major + 1))
    return before(floor(major, minor)), before(floor(major, minor + 1))


def _equal(operand: Operand) -> Comparator:
    """`=` and no operator: this version; with unwritten parts the same as `~`."""
    return exactly(operand.key) if operand.written == ALL_WRITTEN else _tilde(operand)


def _not_equal(operand: Operand) -> Comparator:
    """`!=`: not this version; not this major for 1 and 1.x, not this minor for 1.2 and 1.2.x."""
    match operand.written:
        case 1:
            return Except(Span(*_series(operand)))
        case 2:
            return ExceptSeries(Span(*_series(operand)), operand.key[3:])
        case _:
            return Except(exactly(operand.key))


def _greater(operand: Operand) -> Comparator:
    """`>`: above this version; above the whole series for 1 and 1.2, so `>11` begins at 12."""
    return Span(low=_series(operand)[1] if operand.written in {1, 2} else after(operand.key))


def _greater_or_equal(operand: Operand) -> Comparator:
    """`>=`: from this version on."""
    return Span(low=before(operand.key))


def _less(operand: Operand) -> Comparator:
    """`<`: below this version."""
    return Span(high=before(operand.key))


def _less_or_equal(operand: Operand) -> Comparator:
    """`<=`: up to this version, or to the end of its series; `<=*` ends with 0.0 (as there)."""
    complete = operand.written == ALL_WRITTEN
    return Span(high=after(operand.key) if complete else _series(operand)[1])


def _tilde(operand: Operand) -> Comparator:
    """`~`: from here to the end of the minor, or of the major for 1; no end for * and 0.0.0."""
    unbounded = operand.written == 0 or (
        operand.written == ALL_WRITTEN and operand.numbers == (0, 0, 0)
    )
    return Span(before(operand.key), None if unbounded else _series(operand)[1])


def _caret(operand: Operand) -> Comparator:
    """`^`: from this version on, the leftmost number that is not zero unchanged."""
    major, minor, patch = operand.numbers
    if major > 0 or operand.written == 1:
        end = floor(major + 1)
    elif minor > 0 or operand.written == 2:
        end = floor(major, minor + 1)
    else:
        end = floor(major, minor, patch + 1)
    return Span(before(operand.key), before(end))


OPERATORS: Mapping[str, Callable[[Operand], Comparator]] = MappingProxyType(
    {
        "": _equal,
        "=": _equal,
        "!=": _not_equal,
        ">": _greater,
        "<": _less,
        ">=": _greater_or_equal,
        "=>": _greater_or_equal,
        "<=": _less_or_equal,
        "=<": _less_or_equal,
        "~": _tilde,
        "~>": _tilde,
        "^": _caret,
    }
)
