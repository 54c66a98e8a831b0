"""Requests to the API server, as any identity.

Programs send them over sessions of aiohttp (`sessions.py`), commands over connections that take no
time to import (`few_requests.py`); watches go by `long_answers.py`. What comes back is JSON; which
address serves which kind is for `mapper.py` to know.
"""

import asyncio
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote, quote_plus

import orjson

from olm_runtime.http import request_log
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.kube.errors import ApiError, error_from
from olm_runtime.kube.exchange import Bounds, Reply, Requests, UnreachableError
from olm_runtime.kube.media_types import JSON_TYPE
from olm_runtime.kube.overrides import Headers
from olm_runtime.kube.request_slots import RequestSlots

if TYPE_CHECKING:
    from olm_runtime.kube.long_answers import Answer, LongAnswers

REQUEST_SECONDS = 30.0
WATCH_SILENCE_SECONDS = 330.0
"""Longer than any watch lasts: only a connection that died silently is this quiet."""
CONNECT_SECONDS = 10.0
TRIES = 4
NO_ANSWER = "<error>"
"""Where a status code is counted and there is none; client-go's word."""
UNREACHABLE = "see that it runs, and that the kubeconfig, or --server, has its address"
UNTRUSTED = "have the kubeconfig, or --certificate-authority, name the CA of its certificate"

_WARNING = r'299 \S+ "((?:[^"\\]|\\.)*)"'
_QUOTED_PAIR = r"\\(.)"
_IN_PATHS = "/:@!$&'()*+,;="
"""Characters that a path has as they are (RFC 3986, 3.3), next to letters, digits and `-._~`."""


class _Shared:
    """What all identities share."""

    def __init__(self, access: ClusterAccess, requests: Requests) -> None:
        self.access = access
        self.requests = requests
        self.long_answers: LongAnswers | None = None
        self.request_slots = RequestSlots()
        self.answers: Counter[tuple[str, str]] = Counter()

    def watches(self) -> "LongAnswers":
        """What is imported and made for the first of them."""
        if self.long_answers is None:
            from olm_runtime.kube.long_answers import LongAnswers

            self.long_answers = LongAnswers(self.access)
        return self.long_answers


class Transport:
    """The API server's address and connections, and who asks."""

    def __init__(
        self,
        shared: _Shared,
        instead: Headers = (),
        warned: Callable[[str], None] | None = None,
    ) -> None:
        """`instead`: who is acted as, in place of whom the configuration names.

        `warned` gets what the server warns of.
        """
        self._shared = shared
        self._instead = instead
        self._warned = warned

    @property
    def identity(self) -> tuple[object, ...]:
        """Whose connections, as whom, and who gets the warnings: equal for equal transports."""
        return self._shared, self._instead, self._warned

    @classmethod
    def connect(cls, access: ClusterAccess) -> Self:
        """A transport with the configuration's own identity; must be made in a running loop."""
        from olm_runtime.kube.sessions import SessionRequests

        return cls(_Shared(access, SessionRequests(access)))

    @classmethod
    def briefly(cls, access: ClusterAccess) -> Self:
        """The same, made at once, for a command that asks a few times and ends."""
        if access.proxy:
            return cls.connect(access)
        from olm_runtime.kube.few_requests import FewRequests

        return cls(_Shared(access, FewRequests(access)))

    def impersonating(self, user: str) -> Self:
        """The same connections, acting as a user."""
        return type(self)(self._shared, (("Impersonate-User", user),), self._warned)

    def with_warning_handler(self, warned: Callable[[str], None]) -> Self:
        """The same connections and identity; `warned` gets what the server warns of."""
        return type(self)(self._shared, self._instead, warned)

    @property
    def answers(self) -> Counter[tuple[str, str]]:
        """How often there was which answer, of all identities: by method and by status code."""
        return self._shared.answers

    async def close(self) -> None:
        """Closes the connections that all identities share."""
        await self._shared.requests.close()
        if self._shared.long_answers is not None:
            await self._shared.long_answers.close()

    async def request(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        params: Mapping[str, str] | None = None,
        content_type: str = JSON_TYPE,
        accept: str = JSON_TYPE,
    ) -> Any:
        """One request; the decoded answer. Raises ApiError.

        429 is answered by waiting as the server asks, a bounded number of times; nothing else is
        repeated here, because only the caller knows whether that is safe.
        """
        headers = self._request_headers(accept)
        if body is not None:
            headers.append(("Content-Type", content_type))
        for attempt in range(1, TRIES + 1):
            reply = await self._send(method, path, headers, body, params)
            if reply.status != 429 or attempt == TRIES:
                break
            wait = reply.header("retry-after", "1")
            await asyncio.sleep(min(float(wait) if wait.isdigit() else 1.0, 5.0) * attempt)
        if reply.status >= 400:
            raise error_from(reply.status, reply.content)
        return _decoded(reply.content)

    async def open_watch(self, path: str, *, params: Mapping[str, str], accept: str) -> "Answer":
        """The answer of a watch that has begun; it is to be closed. Raises ApiError, OSError."""
        headers = self._request_headers(accept)
        url = self._url(path, params)
        began = time.monotonic()
        answer = await self._shared.watches().get(
            url, headers, connect=self._connect_seconds, silence=WATCH_SILENCE_SECONDS
        )
        self._shared.answers["GET", str(answer.status)] += 1
        _note("GET", url, f"{answer.status} {answer.reason}", began, headers, answer.headers)
        if answer.status >= 400:
            try:
                content = b"".join([part async for part in answer.content])
            finally:
                answer.close()
            raise error_from(answer.status, content)
        return answer

    def _request_headers(self, accept: str) -> list[tuple[str, str]]:
        who = self._shared.access.headers()
        if self._instead:
            impersonated = len(self._shared.access.impersonation)
            who = [*who[: len(who) - impersonated], *self._instead]
        return [("Accept", accept), *who]

    def _url(self, path: str, params: Mapping[str, str] | None) -> str:
        query = f"?{_urlencoded(params)}" if params else ""
        return f"{self._shared.access.server}{quote(path, _IN_PATHS)}{query}"

    @property
    def _seconds(self) -> float | None:
        """The bound of a request; None for none."""
        asked = self._shared.access.request_seconds
        return REQUEST_SECONDS if asked is None else asked or None

    @property
    def _connect_seconds(self) -> float:
        return min(CONNECT_SECONDS, self._seconds or CONNECT_SECONDS)

    async def _send(
        self,
        method: str,
        path: str,
        headers: list[tuple[str, str]],
        body: Any,
        params: Mapping[str, str] | None,
    ) -> Reply:
        seconds, began = self._seconds, time.monotonic()
        url, shared = self._url(path, params), self._shared
        content = None if body is None else orjson.dumps(body)
        bounds = Bounds(connect=self._connect_seconds, total=seconds)
        try:
            async with shared.request_slots.slot():
                reply = await shared.requests.send(method, url, headers, content, bounds)
        except TimeoutError as error:
            shared.answers[method, NO_ANSWER] += 1
            _note_fault(method, url, began, "without an answer")
            message = f"no answer from the API server within {seconds or CONNECT_SECONDS:g} s"
            raise ApiError(f"{message}: {method} {path}") from error
        except UnreachableError as error:
            shared.answers[method, NO_ANSWER] += 1
            _note_fault(method, url, began, "unreachable")
            hint = UNTRUSTED if error.untrusted else UNREACHABLE
            raise ApiError(f"cannot reach the API server: {error}", hint=hint) from error
        _note(method, url, f"{reply.status} {reply.reason}", began, headers, reply.headers)
        shared.answers[method, str(reply.status)] += 1
        self._report_warnings(reply)
        return reply

    def _report_warnings(self, reply: Reply) -> None:
        if self._warned is not None:
            for name, value in reply.headers:
                if name.lower() == "warning":
                    self._warned(warning_text(value))


def _urlencoded(params: Mapping[str, str]) -> str:
    """As `urllib.parse.urlencode`, which takes as long as all else that is done for an address."""
    return "&".join(f"{_quoted(name)}={_quoted(value)}" for name, value in params.items())


@lru_cache(maxsize=256)
def _quoted(text: str) -> str:
    """The names of parameters and most values are the same few, and a selector comes in a row."""
    return quote_plus(text)


def warning_text(header: str) -> str:
    """The text of a header `Warning: 299 - "text"` (RFC 7234, 5.5), its quoted pairs resolved."""
    found = re.match(_WARNING, header)
    return re.sub(_QUOTED_PAIR, r"\1", found[1]) if found else header


def _note(
    method: str,
    url: str,
    status: str,
    began: float,
    sent: Sequence[tuple[str, str]],
    got: Iterable[tuple[str, str]],
) -> None:
    if request_log.are_written():
        seconds = time.monotonic() - began
        request_log.note_request(method, url, seconds, status, sent, got)


def _note_fault(method: str, url: str, began: float, fault: str) -> None:
    if request_log.are_written():
        request_log.note_request(method, url, time.monotonic() - began, fault)


def _decoded(content: bytes) -> Any:
    try:
        return orjson.loads(content) if content[:1] in (b"{", b"[") else content.decode()
    except ValueError as error:
        raise ApiError(f"the API server's answer cannot be read: {error}") from error
