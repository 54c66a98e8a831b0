"""Sessions of many people, each of whom has shown the API server who they are."""

import asyncio
import hashlib
import math
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

from console.sessions import Session
from console.users import User

IDLE_SECONDS = 30 * 60.0
"""For which a session may not be used: pages that are left open do not use it."""
LONGEST_SECONDS = 8 * 3600.0
MAX_SESSIONS = 1000
RENEWED_SECONDS = 120.0
"""Before its end a token is to be followed by another."""


@dataclass(slots=True)
class Credential:
    """What the API server is sent, as it is now: a bearer token.

    expires    when it ends, by the clock of the sessions
    renew      gets the next one, if it can
    revoke     has what it is renewed with count no longer
    elsewhere  address at which a browser ends the session of who gave it; empty for none
    """

    token: str
    expires: float = math.inf
    renew: Callable[[], Awaitable[None]] | None = None
    revoke: Callable[[], Awaitable[None]] | None = None
    elsewhere: str = ""


@dataclass(slots=True)
class _Held:
    session: Session
    identity: str
    credential: Credential
    began: float
    used: float


@dataclass(slots=True)
class IdentitySessions:
    """Sessions, and one User for all of those with the same credentials.

    They are in memory alone: a cookie is no more than the name of one.
    """

    now: Callable[[], float] = time.monotonic
    _held: dict[str, _Held] = field(default_factory=dict)
    _users: dict[str, User] = field(default_factory=dict)
    _leaving: list[User] = field(default_factory=list)
    """Those who are being closed: who is cancelled meanwhile leaves them to `close`."""

    @property
    def full(self) -> bool:
        """Whether as many are held as may be."""
        return len(self._held) >= MAX_SESSIONS

    def begin(self, credential: Credential, user: User) -> Session:
        """A session of whose token it is; its user is an earlier one where there is one."""
        identity, now = _identity(credential.token), self.now()
        session = Session(self._users.setdefault(identity, user), leaves=True)
        self._held[session.id] = _Held(session, identity, credential, now, now)
        return session

    def find(self, cookie: str, *, used: bool) -> Session | None:
        """The session of that cookie, while it lasts."""
        held = self._held.get(cookie)
        if held is None or self._over(held):
            return None
        if used:
            held.used = self.now()
        return held.session

    async def end(self, session: Session) -> str:
        """Signs out; the address at which the browser does so elsewhere, empty for none."""
        held = self._held.pop(session.id, None)
        await self.tidy()
        if held is None:
            return ""
        await _revoke([held.credential])
        return held.credential.elsewhere

    async def tidy(self) -> None:
        """Forgets the sessions that are over, and closes users who have none left."""
        over = [each for each in self._held.values() if self._over(each)]
        for each in over:
            del self._held[each.session.id]
        await self._close_unused()
        await _revoke([each.credential for each in over])

    async def _close_unused(self) -> None:
        used = {each.identity for each in self._held.values()}
        self._leaving += [self._users.pop(each) for each in self._users.keys() - used]
        left = list(self._leaving)
        await asyncio.gather(*(each.close() for each in left))
        self._leaving = [each for each in self._leaving if all(each is not one for one in left)]

    async def renew(self) -> None:
        """Has tokens that end soon be followed by others."""
        soon = self.now() + RENEWED_SECONDS
        due = [each.credential for each in self._held.values() if each.credential.expires < soon]
        await asyncio.gather(*(each.renew() for each in due if each.renew))

    def stop(self) -> None:
        """Ends what notifies open pages of changes."""
        for each in self._users.values():
            each.changes.end()

    async def close(self) -> None:
        """Ends all."""
        self._held.clear()
        await self._close_unused()

    def _over(self, held: _Held) -> bool:
        now = self.now()
        ended = now >= held.credential.expires
        return ended or now - held.used > IDLE_SECONDS or now - held.began > LONGEST_SECONDS


async def _revoke(credentials: Iterable[Credential]) -> None:
    await asyncio.gather(*(each.revoke() for each in credentials if each.revoke))


def _identity(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
