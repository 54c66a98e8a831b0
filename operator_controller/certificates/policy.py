"""What is due for a serving certificate: issue, prepare, promote, or nothing. Time is passed in.

A rotation never leaves a moment in which a caller does not trust what a server serves:

1. PREPARE at two thirds of the lifetime, or when the clock has gone back to before its beginning:
   the next certificate is made and kept, and callers are told to trust the old and the new CA.
   Servers go on with the old certificate.
2. PROMOTE once every caller has had both CAs for the settle time: servers get the new one.
3. The old CA is left out when it ends, at the same moment as the old certificate: until then a
   server that has not read its new certificate yet is still trusted.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum, auto

from operator_controller.certificates.kept import BACKDATE, Fresh, Kept, Pair

RENEW_AFTER = 2 / 3
"""The part of a lifetime after which the next certificate is prepared."""

DEFAULT_LIFETIME = timedelta(days=90)
DEFAULT_SETTLE = timedelta(minutes=5)
"""Longer than an API server takes to see a changed webhook configuration."""


class Due(Enum):
    """The next step for one serving certificate."""

    ISSUE = auto()
    PREPARE = auto()
    PROMOTE = auto()
    NOTHING = auto()


@dataclass(frozen=True, slots=True)
class Situation:
    """`spread_since`: since when all callers have trusted all CAs that are kept, if they do."""

    kept: Kept | None
    spread_since: datetime | None = None


def due(situation: Situation, now: datetime, settle: timedelta) -> Due:
    """What to do now."""
    kept = situation.kept
    if kept is None:
        return Due.ISSUE
    expired = kept.current.expires_at <= now
    following = _usable_next(kept, now)
    if following is not None:
        spread = situation.spread_since
        settled = spread is not None and not spread <= now < spread + settle
        # What has ended is trusted by nobody, so there is nothing left to be careful with.
        return Due.PROMOTE if settled or expired else Due.NOTHING
    if expired:
        return Due.ISSUE
    return (
        Due.PREPARE
        if _is_of_the_future(kept.current, now) or now >= renew_at(kept.current)
        else Due.NOTHING
    )


def renew_at(pair: Pair) -> datetime:
    """When the successor of a certificate is prepared."""
    return pair.issued_at + (pair.expires_at - pair.issued_at) * RENEW_AFTER


def advance(
    situation: Situation, issue: Callable[[], Fresh], now: datetime, settle: timedelta
) -> tuple[Due, Kept]:
    """The step that is due, and what is to be kept after it; `issue` makes a new certificate."""
    step = due(situation, now, settle)
    kept = situation.kept
    if kept is None or step is Due.ISSUE:
        return step, issued(issue())
    if step is Due.PREPARE:
        return step, prepared(kept, issue(), now)
    return step, promoted(kept, now) if step is Due.PROMOTE else trimmed(kept, now)


def issued(fresh: Fresh) -> Kept:
    """The first certificate, or a new beginning: nothing from before is trusted any more."""
    return Kept(fresh.pair, (fresh.authority,))


def prepared(kept: Kept, fresh: Fresh, now: datetime) -> Kept:
    """Both CAs trusted, the old certificate still served."""
    both = (fresh.authority, *kept.authorities)
    return trimmed(replace(kept, authorities=both, next=fresh.pair), now)


def promoted(kept: Kept, now: datetime) -> Kept:
    """The next certificate served, the old CA still trusted while it lasts."""
    current = kept.next or kept.current
    return trimmed(Kept(current, kept.authorities), now)


def trimmed(kept: Kept, now: datetime) -> Kept:
    """Without what has ended."""
    lasting = tuple(a for a in kept.authorities if a.expires_at > now)
    return replace(kept, authorities=lasting, next=_usable_next(kept, now))


def next_look(situation: Situation, now: datetime, settle: timedelta) -> datetime:
    """When something will be due, if nothing changes before."""
    kept = situation.kept
    if kept is None:
        return now
    if kept.next is None:
        step = now if _is_of_the_future(kept.current, now) else renew_at(kept.current)
    elif situation.spread_since is not None:
        spread = min(situation.spread_since, now)
        step = min(spread + settle, kept.current.expires_at)
    else:
        step = kept.current.expires_at
    return min([step, *(authority.expires_at for authority in kept.authorities)])


def _is_of_the_future(pair: Pair, now: datetime) -> bool:
    """Whether a certificate is not valid yet: the clock has gone back since it was issued."""
    return now < pair.issued_at - BACKDATE


def _usable_next(kept: Kept, now: datetime) -> Pair | None:
    return kept.next if kept.next is not None and kept.next.expires_at > now else None
