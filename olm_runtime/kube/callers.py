"""Who may read the metrics: asked of the API server, remembered for a short while.

Anybody can send made-up tokens as fast as he likes, so the API server is asked about unknown ones
at a bounded rate. Whoever was let in is asked about beyond it: a flood keeps out newcomers at most.
"""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

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
    """Judges bearer tokens by TokenReview, and all by SubjectAccessReview on `/metrics`."""

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
        return await self._judge(token, partial(self._ask, token))

    async def judge_certificate(self, certificate: str) -> int:
        """The same by a client's certificate (PEM), which TLS has checked."""
        from cryptography import x509
        from cryptography.x509.oid import NameOID

        subject = x509.load_pem_x509_certificate(certificate.encode()).subject
        names = [str(each.value) for each in subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
        groups = subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
        if not names:
            return UNKNOWN
        user = {"username": names[0], "groups": [str(each.value) for each in groups]}
        return await self._judge(certificate, partial(self._may_read, user))

    async def _judge(self, credential: str, ask: Callable[[], Awaitable[int]]) -> int:
        key = hashlib.sha256(credential.encode()).hexdigest()
        known = self._let_in.get(key) or self._others.get(key)
        if known is not None and known.until > self._clock():
            return known.status
        asking = self._asking.get(key)
        if asking is None:
            if key not in self._let_in and not self._allowance.take(self._clock()):
                return TOO_MANY
            asking = self._asking[key] = asyncio.ensure_future(self._find_out(key, ask))
        return await asyncio.shield(asking)

    async def _find_out(self, key: str, ask: Callable[[], Awaitable[int]]) -> int:
        try:
            status = await ask()
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
        return await self._may_read(status["user"])

    async def _may_read(self, user: Mapping[str, Any]) -> int:
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
