"""What is due for a serving certificate: issue, prepare, promote, or nothing. Time is passed in.

A rotation never leaves a moment in which a caller does not trust what a server serves:

1. PREPARE at two thirds of the lifetime, or when the clock has gone back to before its beginning:
   the next certificate is made, and callers get both CAs, the old and the new, to trust.
   Servers go on with the old certificate.
2. PROMOTE once every caller has had both CAs for the settle time: servers get the new one.
3. The old CA is left out when it ends, at the same moment as the old certificate: until then a
   server that has not read its new certificate yet is still trusted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum, auto

from olm_runtime.certificates.content import BACKDATE, Fresh, Pair, SecretContent

RENEW_AFTER = 2 / 3
"""The part of a lifetime after which the next certificate is prepared."""

Issue = Callable[[Sequence[str], datetime], Fresh]
"""Issues a certificate for DNS names, at a time."""


class Due(Enum):
    """The next step for one serving certificate."""

    ISSUE = auto()
    PREPARE = auto()
    PROMOTE = auto()
    NOTHING = auto()


@dataclass(frozen=True, slots=True)
class Situation:
    """`spread_since`: since when all callers have trusted all CAs of the Secret, if they do."""

    content: SecretContent | None
    spread_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Rotation:
    """What certificates are rotated with.

    settle   how long all callers have trusted a CA before it is served with
    clock    the time
    """

    issue: Issue
    settle: timedelta
    clock: Callable[[], datetime]

    def advance(
        self, situation: Situation, dns_names: Sequence[str], now: datetime
    ) -> tuple[Due, SecretContent]:
        """The step that is due, and the content after it."""
        step = due(situation, now, self.settle)
        content = situation.content
        if content is None or step is Due.ISSUE:
            return step, issued(self.issue(dns_names, now))
        if step is Due.PREPARE:
            return step, prepared(content, self.issue(dns_names, now), now)
        return step, promoted(content, now) if step is Due.PROMOTE else trimmed(content, now)


def due(situation: Situation, now: datetime, settle: timedelta) -> Due:
    """What to do now."""
    content = situation.content
    if content is None:
        return Due.ISSUE
    expired = content.current.expires_at <= now
    following = _usable_next(content, now)
    if following is not None:
        spread = situation.spread_since
        settled = spread is not None and not spread <= now < spread + settle
        # What has ended is trusted by nobody, so there is nothing left to be careful with.
        return Due.PROMOTE if settled or expired else Due.NOTHING
    if expired:
        return Due.ISSUE
    return (
        Due.PREPARE
        if _is_of_the_future(content.current, now) or now >= renew_at(content.current)
        else Due.NOTHING
    )


def renew_at(pair: Pair) -> datetime:
    """When the successor of a certificate is prepared."""
    return pair.issued_at + (pair.expires_at - pair.issued_at) * RENEW_AFTER


def issued(fresh: Fresh) -> SecretContent:
    """The first certificate, or a new beginning: nothing from before is trusted any more."""
    return SecretContent(fresh.pair, (fresh.authority,))


def prepared(content: SecretContent, fresh: Fresh, now: datetime) -> SecretContent:
    """Both CAs are trusted, the old certificate is still served."""
    both = (fresh.authority, *content.authorities)
    return trimmed(replace(content, authorities=both, next=fresh.pair), now)


def promoted(content: SecretContent, now: datetime) -> SecretContent:
    """The next certificate is served, the old CA is still trusted while it lasts."""
    current = content.next or content.current
    return trimmed(SecretContent(current, content.authorities), now)


def trimmed(content: SecretContent, now: datetime) -> SecretContent:
    """Without what has ended."""
    lasting = tuple(a for a in content.authorities if a.expires_at > now)
    return replace(content, authorities=lasting, next=_usable_next(content, now))


def next_look(situation: Situation, now: datetime, settle: timedelta) -> datetime:
    """When something will be due, if nothing changes before."""
    content = situation.content
    if content is None:
        return now
    if content.next is None:
        step = now if _is_of_the_future(content.current, now) else renew_at(content.current)
    elif situation.spread_since is not None:
        spread = min(situation.spread_since, now)
        step = min(spread + settle, content.current.expires_at)
    else:
        step = content.current.expires_at
    return min([step, *(authority.expires_at for authority in content.authorities)])


def _is_of_the_future(pair: Pair, now: datetime) -> bool:
    """Whether a certificate is not valid yet: the clock has gone back since it was issued."""
    return now < pair.issued_at - BACKDATE


def _usable_next(content: SecretContent, now: datetime) -> Pair | None:
    return content.next if content.next is not None and content.next.expires_at > now else None
