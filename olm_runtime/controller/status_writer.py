"""Writes statuses: not at all when nothing changed, and never over what somebody else wrote."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar

import orjson

from api import wire
from api.conditions import Condition, ConditionStatus, merge_conditions
from api.objects import KubeObject, ObjectKey, gvk_of, key_of, metadata, name_of, namespace_of
from api.olm.v1.conditions import ConditionType, Reason
from api.wire import InvalidObjectError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ConflictError, NotFoundError
from olm_runtime.kube.media_types import JSON_PATCH
from olm_runtime.outcome import Blocked, Done, Outcome

TRIES = 3
"""Annotations change while a status is computed, but not again and again."""


class _WithConditions(Protocol):
    def __init__(self, *, conditions: tuple[Condition, ...]) -> None: ...


S = TypeVar("S", bound=_WithConditions)


@dataclass(slots=True)
class _Known:
    """Of one object: the status that it should have, and the newest version that we know.

    A digest of the status: whole ones of all objects would take much of the memory.
    """

    status: bytes
    version: int = 0


class StatusWriter:
    """Writes statuses, and distinguishes its own from those of others."""

    def __init__(
        self, client: KubeClient, note: Callable[[KubeObject], None] = lambda _: None
    ) -> None:
        """`note` is called with each object as the server answered it, for a store."""
        self._client = client
        self._note = note
        self._known: dict[ObjectKey, _Known] = {}

    async def write(self, raw: KubeObject, status: Mapping[str, Any]) -> KubeObject | None:
        """Replaces the status of an object if it differs from `raw`'s; the object as written.

        None where nothing was written: also for an object that is gone by now.

        Raises ConflictError where the status is not computed from what is there: somebody else
        wrote one, or the object is another or asks for something else. A leader that slept must
        not take back what the next one has found out.
        """
        digest = _digest(status)
        known = self._known.setdefault(key_of(raw), _Known(digest))
        known.status = digest  # before it is sent: the event may be faster than the answer
        known.version = max(known.version, _version(raw))
        if (raw.get("status") or {}) == status:
            return None
        for left in reversed(range(TRIES)):
            try:
                written = await replace_status(self._client, raw, status)
            except NotFoundError:
                self.forget(raw)  # which its last event did before this
                break
            except ConflictError:
                now = await self._client.find(gvk_of(raw), name_of(raw), namespace_of(raw))
                if now is not None:
                    self._note(now)
                if not left or now is None or _basis(now) != _basis(raw):
                    raise
                raw = now
            else:
                known.version = _version(written)
                self._note(written)
                return written
        return None

    def is_of_others(self, obj: KubeObject) -> bool:
        """Whether an event shows a status that somebody else wrote."""
        known = self._known.get(key_of(obj))
        if known is None or _version(obj) <= known.version:
            return False
        return _digest(obj.get("status") or {}) != known.status

    def forget(self, obj: KubeObject) -> None:
        """The object is gone."""
        self._known.pop(key_of(obj), None)


async def replace_status(
    client: KubeClient, raw: KubeObject, status: Mapping[str, Any]
) -> KubeObject:
    """Replaces the status of the very version that was read. Raises ConflictError, ApiError."""
    version = metadata(raw)["resourceVersion"]
    patch = [
        {"op": "replace", "path": "/metadata/resourceVersion", "value": version},
        {"op": "add", "path": "/status", "value": status},
    ]
    written: KubeObject = await client.patch(
        raw, patch, subresource="status", content_type=JSON_PATCH
    )
    return written


def _digest(status: Mapping[str, Any]) -> bytes:
    encoded = orjson.dumps(status, option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(encoded, digest_size=16).digest()


def _version(obj: KubeObject) -> int:
    """Versions of one kind grow."""
    text = str(metadata(obj).get("resourceVersion") or "")
    return int(text) if text.isdecimal() else 0


def _basis(raw: KubeObject) -> tuple[Any, ...]:
    """What a status is computed from, of the object itself."""
    meta = metadata(raw)
    return meta.get("uid"), meta.get("generation"), raw.get("status") or {}


def progressing(outcome: Outcome, generation: int | None) -> Condition:
    """The condition Progressing after a reconcile of which nothing else is known."""
    match outcome:
        case Done():
            reason, message = Reason.SUCCEEDED.value, ""
        case Blocked(reason=reason, message=message):
            pass
        case _:
            reason, message = Reason.RETRYING.value, outcome.message
    blocked = isinstance(outcome, Blocked)
    return Condition(
        type=ConditionType.PROGRESSING,
        status=ConditionStatus.FALSE if blocked else ConditionStatus.TRUE,
        reason=reason,
        message=message,
        observed_generation=generation or 0,
    )


def with_condition(raw: KubeObject, condition: Condition, now: datetime) -> dict[str, Any]:
    """The status of an object that perhaps cannot be read, with one condition set."""
    status = dict(raw.get("status") or {})
    merged = merge_conditions(readable_conditions(status), [condition], now)
    return status | {"conditions": [wire.write(each) for each in merged]}


def read_status(model: type[S], status: Any) -> S:
    """A status, or of one that cannot be read the conditions that can."""
    try:
        return wire.read(model, status or {})
    except InvalidObjectError:
        return model(conditions=tuple(readable_conditions(status)))


def readable_conditions(status: Mapping[str, Any]) -> list[Condition]:
    """The conditions of a status, without those that are none."""
    found = []
    for raw in status.get("conditions") or ():
        try:
            found.append(wire.read(Condition, raw))
        except InvalidObjectError:
            continue
    return found
