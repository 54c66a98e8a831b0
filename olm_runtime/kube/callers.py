"""Who may read the metrics: asked of the API server, remembered for a short while.

Anybody can send made-up tokens as fast as he likes, so the API server is asked about unknown ones
at a bounded rate. Whoever was let in is asked about beyond it: a flood keeps out newcomers at most.
"""

import asyncio
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass

from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError

REMEMBER_SECONDS = 60.0
MAX_REMEMBERED = 256
"""Of those who were let in, and as many of the others."""
PER_SECOND, BURST = 5.0, 20
"""Unknown tokens that the API server is asked about."""

OK, UNKNOWN, TOO_MANY, UNCERTAIN = 200, 401, 429, 500


@dataclass(frozen=True, slots=True)
class _Verdict:
    """A HTTP status, and until when it counts by the monotonic clock."""

    status: int
    until: float


class _Allowance:
    """How many unknown tokens may be asked about now."""

    def __init__(self, now: float) -> None:
        self._left, self._at = float(BURST), now

    def take(self, now: float) -> bool:
        """Takes one, if there is one left."""
        self._left = min(BURST, self._left + (now - self._at) * PER_SECOND)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Callers:
    """Judges bearer tokens by TokenReview and SubjectAccessReview on `/metrics`."""

    def __init__(
        self,
        client: KubeClient,
        *,
        field_manager: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._field_manager = field_manager
        self._clock = clock
        self._allowance = _Allowance(clock())
        self._let_in: dict[str, _Verdict] = {}
        self._others: dict[str, _Verdict] = {}
        self._asking: dict[str, asyncio.Task[int]] = {}

    async def judge(self, token: str) -> int:
        """The HTTP status for a caller: 200, 401, 403, 429, or 500 if it cannot be found out."""
        key = hashlib.sha256(token.encode()).hexdigest()
        known = self._let_in.get(key) or self._others.get(key)
        if known is not None and known.until > self._clock():
            return known.status
        asking = self._asking.get(key)
        if asking is None:
            if key not in self._let_in and not self._allowance.take(self._clock()):
                return TOO_MANY
            asking = self._asking[key] = asyncio.ensure_future(self._find_out(key, token))
        return await asyncio.shield(asking)

    async def _find_out(self, key: str, token: str) -> int:
        try:
            status = await self._ask(token)
        except ApiError:
            return UNCERTAIN
        finally:
            del self._asking[key]
        self._remember(key, status)
        return status

    def _remember(self, key: str, status: int) -> None:
        self._let_in.pop(key, None)
        self._others.pop(key, None)
        among = self._let_in if status == OK else self._others
        if len(among) >= MAX_REMEMBERED:
            del among[next(iter(among))]
        among[key] = _Verdict(status, self._clock() + REMEMBER_SECONDS)

    async def _ask(self, token: str) -> int:
        review = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token},
        }
        status = (await self._client.create(review, field_manager=self._field_manager))["status"]
        if not status.get("authenticated"):
            return UNKNOWN
        user = status["user"]
        access = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {
                "user": user.get("username"),
                "groups": user.get("groups"),
                "uid": user.get("uid"),
                "extra": user.get("extra"),
                "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
            },
        }
        answer = await self._client.create(access, field_manager=self._field_manager)
        return OK if answer["status"].get("allowed") else 403
