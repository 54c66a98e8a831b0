"""Who has signed in, from which browser."""

import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from console.shown_pages import ShownPages
from console.users import User

TOKEN_BYTES = hashlib.sha256().digest_size


@dataclass(slots=True, eq=False)
class Session:
    """A browser in which somebody has signed in.

    id      what its cookie says
    secret  what its tokens for forms are made with
    said    texts for the next page
    leaves  whether it can be signed out of
    label   what its pages are marked with, which is no secret
    shown   its pages that browsers show
    """

    user: User
    id: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    said: list[str] = field(default_factory=list)
    leaves: bool = False
    label: str = field(default_factory=lambda: secrets.token_hex(8))
    shown: ShownPages = field(init=False)

    def __post_init__(self) -> None:
        self.shown = ShownPages(self.user.changes, self.user.begin_to_look)

    @property
    def token(self) -> str:
        """What forms of its pages send along: another text each time.

        Pages are compressed, and a text that stays the same could be guessed by their lengths.
        """
        mask = secrets.token_bytes(TOKEN_BYTES)
        return (mask + _masked(self._form_key(), mask)).hex()

    def accepts(self, token: str) -> bool:
        """Whether one of its tokens was sent."""
        try:
            given = bytes.fromhex(token)
        except ValueError:
            return False
        mask, masked = given[:TOKEN_BYTES], given[TOKEN_BYTES:]
        if len(masked) != TOKEN_BYTES:
            return False
        return hmac.compare_digest(_masked(masked, mask), self._form_key())

    def _form_key(self) -> bytes:
        return hmac.digest(self.secret, b"form", hashlib.sha256)


def _masked(text: bytes, mask: bytes) -> bytes:
    return bytes(each ^ other for each, other in zip(text, mask, strict=True))


class Sessions(Protocol):
    """Finds the session that a cookie names."""

    def find(self, cookie: str, *, used: bool) -> Session | None:
        """None where it names none, or one that has ended; `used` where a person asks."""
        ...


class KeySessions:
    """Sessions of one user, each entered by a key that counts once.

    `next_key` is called with each new key: whoever knows one enters.
    """

    def __init__(self, user: User, next_key: Callable[[str], None]) -> None:
        self._user = user
        self._next_key = next_key
        self._key = ""
        self._sessions: dict[str, Session] = {}

    def offer(self) -> None:
        """Makes a key."""
        self._key = secrets.token_urlsafe(32)
        self._next_key(self._key)

    def enter(self, key: str) -> Session | None:
        """A session for the key, which counts no longer; None for another."""
        if not self._key or not hmac.compare_digest(key.encode(), self._key.encode()):
            return None
        session = Session(self._user)
        self._sessions[session.id] = session
        self.offer()
        return session

    def find(self, cookie: str, *, used: bool) -> Session | None:  # noqa: ARG002
        """The session of that cookie, which lasts as long as the console."""
        return self._sessions.get(cookie)
