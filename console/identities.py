"""Sessions of many people, each of whom has shown the API server who they are."""

import asyncio
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from console.sessions import Session
from console.users import User

IDLE_SECONDS = 30 * 60.0
"""For which a session may not be used: pages that are left open do not use it."""
LONGEST_SECONDS = 8 * 3600.0
MAX_SESSIONS = 1000


@dataclass(slots=True)
class _Held:
    session: Session
    identity: str
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

    @property
    def full(self) -> bool:
        """Whether as many are held as may be."""
        return len(self._held) >= MAX_SESSIONS

    def begin(self, token: str, user: User) -> Session:
        """A session of whom the token is; its user is an earlier one where there is one."""
        identity, now = _identity(token), self.now()
        session = Session(self._users.setdefault(identity, user), leaves=True)
        self._held[session.id] = _Held(session, identity, now, now)
        return session

    def find(self, cookie: str, *, used: bool) -> Session | None:
        """The session of that cookie, while it lasts."""
        held = self._held.get(cookie)
        if held is None or self._over(held):
            return None
        if used:
            held.used = self.now()
        return held.session

    async def end(self, session: Session) -> None:
        """Signs out."""
        self._held.pop(session.id, None)
        await self.tidy()

    async def tidy(self) -> None:
        """Forgets the sessions that are over, and closes users who have none left."""
        self._held = {name: each for name, each in self._held.items() if not self._over(each)}
        used = {each.identity for each in self._held.values()}
        left = [self._users.pop(each) for each in self._users.keys() - used]
        await asyncio.gather(*(each.close() for each in left))

    def stop(self) -> None:
        """Ends what tells open pages of changes."""
        for each in self._users.values():
            each.changes.end()

    async def close(self) -> None:
        """Ends all."""
        self._held.clear()
        await self.tidy()

    def _over(self, held: _Held) -> bool:
        now = self.now()
        return now - held.used > IDLE_SECONDS or now - held.began > LONGEST_SECONDS


def _identity(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
