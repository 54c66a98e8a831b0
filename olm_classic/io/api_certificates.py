"""Certificates of what operators serve, in Secrets, rotated while callers trust both CAs.

All state is in the Secret. What is remembered here saves requests, and waits that began already; no
key is among it.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from api.objects import KubeObject, metadata
from olm_classic.csv.owner import Owner
from olm_classic.names import OPERATOR_FIELD_MANAGER
from olm_classic.owned_apis.covering import covers
from olm_classic.owned_apis.described import Serving
from olm_classic.owned_apis.objects import AUTHORITY_KEY, secret
from olm_classic.selections import OWNED_SECRETS
from olm_runtime.certificates.content import AUTHORITIES_KEY, SecretContent
from olm_runtime.certificates.rotation import (
    Due,
    Rotation,
    Situation,
    due,
    next_look,
    prepared,
    trimmed,
)
from olm_runtime.certificates.secret import parse, with_authorities
from olm_runtime.kube.client import KubeClient
from olm_runtime.watch.store import Store

log = logging.getLogger(__name__)

Where = tuple[str, str]
"""The namespace and name of a Secret."""


@dataclass(frozen=True, slots=True)
class ApiCertificates:
    """Those of all Deployments that serve something. `secrets` are without content."""

    client: KubeClient
    secrets: Store[KubeObject]
    rotation: Rotation
    _known: dict[Where, tuple[str, SecretContent]] = field(default_factory=dict)
    """By the version of the Secret that they are of, without keys."""
    _spread: dict[Where, tuple[bytes, datetime]] = field(default_factory=dict)
    """The CAs that all callers trust, and since when."""

    async def find(self, serving: Serving) -> SecretContent | None:
        """What the Secret holds, without keys; None if it is of no use. Raises ApiError."""
        where = _where(serving)
        found = self.secrets.get(serving.secret, serving.namespace)
        if found is None:
            self._known.pop(where, None)
            return None
        known = self._known.get(where)
        if known is None or known[0] != _version(found):
            content, live = await self._read(serving)
            if content is None or live is None:
                self._known.pop(where, None)
                return None
            return self._remember(serving, live, content)
        return known[1]

    async def advance(
        self,
        owner: Owner,
        serving: Serving,
        rotate_at: str,
        trusted: Iterable[bytes] = (),
    ) -> SecretContent:
        """The content after the step that is due, written for its owner; without keys.

        `rotate_at` is the time of the status, which others may set. `trusted` are CAs (PEM) that
        callers know: pods serve with their certificates when the Secret is lost. Raises ApiError.
        """
        content, live = await self._read(serving)
        now = self.rotation.clock()
        step, after = self.rotation.advance(
            self._situation(serving, content), serving.dns_names, now
        )
        if content is None:
            after = trimmed(with_authorities(after, trusted), now)
        elif step is Due.NOTHING and _is_asked_for(content, rotate_at, now):
            step = Due.PREPARE
            after = prepared(content, self.rotation.issue(serving.dns_names, now), now)
        wanted = secret(serving, owner, after)
        if live is None or after != content or not _is_owned(live, wanted):
            log.info("certificate %s/%s: %s", *_where(serving), step.name.lower())
            live = await self.client.apply(wanted, field_manager=OPERATOR_FIELD_MANAGER)
            self.secrets.update({key: live[key] for key in ("apiVersion", "kind", "metadata")})
        return self._remember(serving, live, after)

    def is_due(self, serving: Serving, content: SecretContent, rotate_at: str) -> Due:
        """The step that is due."""
        now = self.rotation.clock()
        step = due(self._situation(serving, content), now, self.rotation.settle)
        asked = step is Due.NOTHING and _is_asked_for(content, rotate_at, now)
        return Due.PREPARE if asked else step

    def note_trusted(self, serving: Serving, content: SecretContent) -> None:
        """All callers trust its CAs now."""
        if self._spread.get(_where(serving), (b"",))[0] != content.bundle:
            self._spread[_where(serving)] = content.bundle, self.rotation.clock()

    def next_look(self, serving: Serving) -> datetime | None:
        """When something will be due; None where nothing is known of it."""
        known = self._known.get(_where(serving))
        if known is None:
            return None
        situation = self._situation(serving, known[1])
        return next_look(situation, self.rotation.clock(), self.rotation.settle)

    def forget(self, serving: Serving) -> None:
        """It is served no more."""
        self._known.pop(_where(serving), None)
        self._spread.pop(_where(serving), None)

    async def _read(self, serving: Serving) -> tuple[SecretContent | None, KubeObject | None]:
        """What there is; upstream's OLM has its CA under another key."""
        live = await self.client.find(OWNED_SECRETS.gvk, serving.secret, serving.namespace)
        data = (live or {}).get("data") or {}
        authorities = data.get(AUTHORITIES_KEY) or data.get(AUTHORITY_KEY) or ""
        return parse({**data, AUTHORITIES_KEY: authorities}, serving.dns_names), live

    def _remember(
        self, serving: Serving, live: KubeObject, content: SecretContent
    ) -> SecretContent:
        following = replace(content.next, key=b"") if content.next else None
        cached = replace(content, current=replace(content.current, key=b""), next=following)
        self._known[_where(serving)] = _version(live), cached
        return cached

    def _situation(self, serving: Serving, content: SecretContent | None) -> Situation:
        bundle, since = self._spread.get(_where(serving), (b"", None))
        known = content is not None and content.bundle == bundle
        return Situation(content, since if known else None)


def _is_asked_for(content: SecretContent, rotate_at: str, now: datetime) -> bool:
    if not rotate_at or content.next is not None:
        return False
    return content.current.issued_at < datetime.fromisoformat(rotate_at) <= now


def _is_owned(live: KubeObject, wanted: KubeObject) -> bool:
    """Whether it goes with its owner, not with one of that name which was there before."""
    return all(
        covers(metadata(live).get(key), metadata(wanted)[key])
        for key in ("labels", "ownerReferences")
    )


def _where(serving: Serving) -> Where:
    return serving.namespace, serving.secret


def _version(obj: KubeObject) -> str:
    return str(metadata(obj)["resourceVersion"])
