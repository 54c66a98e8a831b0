"""Sets of versions as spans between two cuts of the version order.

A cut lies just before or just after one key, so that open and closed ends need no flags:
`before(k) <= before(v) < after(k)` says that v equals k.
"""

from msgspec import Struct

from olm_content.versions import Key

Cut = tuple[Key, int]


def before(key: Key) -> Cut:
    """The place just below all versions of this precedence."""
    return (key, 0)


def after(key: Key) -> Cut:
    """The place just above all versions of this precedence."""
    return (key, 1)


class Span(Struct, frozen=True):
    """The versions between two cuts; an absent cut is no bound."""

    low: Cut | None = None
    high: Cut | None = None

    def __contains__(self, key: Key) -> bool:
        place = before(key)
        return (self.low is None or self.low <= place) and (self.high is None or place < self.high)


class Except(Struct, frozen=True):
    """All versions that are not in the span."""

    span: Span

    def __contains__(self, key: Key) -> bool:
        return key not in self.span


def exactly(key: Key) -> Span:
    """The versions of this precedence, whatever their build metadata."""
    return Span(before(key), after(key))
