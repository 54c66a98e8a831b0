"""The serving certificates of a revision: read the Secrets, decide, fill the objects in.

Nothing is written here. What is decided becomes content of the revision's objects and is applied
with them, in the order of the phases and as the extension's identity; the next look reads it back
from the cluster. Killed in between, the next look decides anew from what is there.
"""

import asyncio
import hashlib
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

import orjson

from api.objects import GVK, KubeObject, ObjectKey, metadata
from olm_rollout.phases import Phase
from olm_runtime.certificates.content import Fresh, SecretContent
from olm_runtime.certificates.rotation import Due, Rotation, Situation, next_look
from olm_runtime.errors import WaitingError
from operator_controller.certificates.demands import Where, demands, filled

SECRET = GVK("", "v1", "Secret")
AUTHORITY_NAME = "OLM webhook CA"
"""In the names of the CAs."""
NEWER_ISSUES_SECONDS = 2.0

log = logging.getLogger(__name__)


def rotation(lifetime: timedelta, settle: timedelta, clock: Callable[[], datetime]) -> Rotation:
    """How all certificates of ours are issued and rotated."""

    def issue(dns_names: Sequence[str], now: datetime) -> Fresh:
        # Imported here: cryptography takes time and memory, and most bundles have no webhook.
        from olm_runtime.certificates.issuer import issuer

        return issuer(lifetime, AUTHORITY_NAME)(dns_names, now)

    return Rotation(issue, settle, clock)


class Secrets(Protocol):
    """What reads Secrets; a client with the extension's identity."""

    async def find(self, gvk: GVK, name: str, namespace: str = "") -> KubeObject | None:
        """The object, or None."""


@dataclass(frozen=True, slots=True)
class Certified:
    """The phases to apply; `changed`: objects that got something else than the last time."""

    phases: Sequence[Phase]
    changed: frozenset[ObjectKey] = frozenset()


@dataclass(slots=True)
class _Memory:
    """Of one revision: only what would otherwise be done again, or waited for again."""

    filled: dict[ObjectKey, bytes] = field(default_factory=dict)
    contents: dict[Where, SecretContent] = field(default_factory=dict)
    spread: dict[Where, tuple[bytes, datetime]] = field(default_factory=dict)
    """The CA bundle that all callers have been seen to have, and since when."""


class RevisionCertificates:
    """Fills certificates into the objects of revisions, and says when to look again."""

    def __init__(self, rotation: Rotation) -> None:
        self._rotation = rotation
        self._memories: dict[str, _Memory] = {}

    async def certify(
        self, secrets: Secrets, revision: str, phases: Sequence[Phase], *, newest: bool
    ) -> Certified:
        """The phases with certificates for all that ask for them.

        Only the newest revision of an extension moves a certificate forward; one that is being
        replaced takes what is there, or raises WaitingError. Raises ApiError.
        """
        asked = demands(phases)
        if not asked:
            self.forget(revision)
            return Certified(phases)
        memory = self._memories.setdefault(revision, _Memory())
        live = await _read(secrets, asked)
        now = self._rotation.clock()
        memory.contents = {
            where: self._step(where, dns_names, _situation(memory, where, content), now)
            if newest
            else _as_it_is(where, content)
            for where, dns_names in asked.items()
            for content in [_parsed(live.get(where), dns_names)]
        }
        uids = {where: metadata(secret)["uid"] for where, secret in live.items()}
        result = filled(phases, memory.contents, uids)
        digests = {key: _digest(value) for key, value in result.values.items()}
        changed = {key for key, digest in digests.items() if memory.filled.get(key) != digest}
        memory.filled = digests
        return Certified(result.phases, frozenset(changed))

    def note_applied(self, revision: str) -> None:
        """Notes that all objects are as `certify` gave them: the callers know the CAs."""
        memory = self._memories.get(revision)
        for where, content in memory.contents.items() if memory else ():
            if memory and memory.spread.get(where, (b"",))[0] != content.bundle:
                memory.spread[where] = (content.bundle, self._rotation.clock())

    def seconds_until_due(self, revision: str) -> float | None:
        """When to certify again; None when nothing asks for it."""
        memory = self._memories.get(revision)
        if memory is None or not memory.contents:
            return None
        now = self._rotation.clock()
        situations = (_situation(memory, *each) for each in memory.contents.items())
        soonest = min(next_look(situation, now, self._rotation.settle) for situation in situations)
        return max(0.0, (soonest - now).total_seconds())

    def forget(self, revision: str) -> None:
        """Drops what is remembered of a revision that is no longer in service."""
        self._memories.pop(revision, None)

    def _step(
        self, where: Where, dns_names: Sequence[str], situation: Situation, now: datetime
    ) -> SecretContent:
        step, content = self._rotation.advance(situation, dns_names, now)
        if step is not Due.NOTHING:
            log.info("certificate %s/%s: %s", *where, step.name.lower())
        return content


async def _read(secrets: Secrets, asked: Collection[Where]) -> dict[Where, KubeObject]:
    """The Secrets that are there."""
    found = await asyncio.gather(*(secrets.find(SECRET, name, place) for place, name in asked))
    return {where: secret for where, secret in zip(asked, found, strict=True) if secret}


def _parsed(secret: KubeObject | None, dns_names: Sequence[str]) -> SecretContent | None:
    if secret is None:
        return None
    from olm_runtime.certificates.secret import parse  # late, as `issue` above

    return parse(secret.get("data") or {}, dns_names)


def _as_it_is(where: Where, content: SecretContent | None) -> SecretContent:
    if content is None:
        raise WaitingError(
            f"certificate {where[0]}/{where[1]} is issued by a newer revision",
            seconds=NEWER_ISSUES_SECONDS,
        )
    return content


def _situation(memory: _Memory, where: Where, content: SecretContent | None) -> Situation:
    bundle, since = memory.spread.get(where, (b"", None))
    return Situation(content, since if content is not None and content.bundle == bundle else None)


def _digest(value: Any) -> bytes:
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).digest()
