"""A cache of what ClusterObjectSets hold, while they roll out.

A rollout reads its content again and again. It cannot change: the phases of a set are immutable,
and so are the Secrets that they refer to. So it is decoded once, and found by the uids.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from api.objects import KubeObject, metadata
from olm_rollout.phases import Phase
from operator_controller.apply.observed import ObservedPhases, observed_phases
from operator_controller.apply.unpack import Where

MAX_CACHED_BYTES = 24 * 1024 * 1024
"""Of stored data in all: more than any bundle that we know of has."""


@dataclass(frozen=True)
class StoredContent:
    """The phases of a ClusterObjectSet with their objects."""

    phases: tuple[Phase, ...]

    @cached_property
    def observed(self) -> ObservedPhases:
        """The digests of the phases."""
        return observed_phases(self.phases)


@dataclass(frozen=True, slots=True)
class _Entry:
    generation: object
    uids: dict[Where, str]
    content: StoredContent
    size: int


class ContentCache:
    """Contents by the uid of their set; those that were not asked for longest give way."""

    def __init__(self, max_bytes: int = MAX_CACHED_BYTES) -> None:
        self._max_bytes = max_bytes
        self._entries: OrderedDict[str, _Entry] = OrderedDict()

    def knows(self, raw: KubeObject) -> bool:
        """Whether there is content of a set as it is."""
        entry = self._entries.get(_uid(raw))
        return entry is not None and entry.generation == metadata(raw).get("generation")

    def find(self, raw: KubeObject, secrets: Mapping[Where, KubeObject]) -> StoredContent | None:
        """The content of a set with these Secrets, of which metadata will do; None if none is."""
        entry = self._entries.get(_uid(raw))
        if entry is None or not self.knows(raw) or entry.uids != _uids(secrets):
            return None
        self._entries.move_to_end(_uid(raw))
        return entry.content

    def keep(
        self, raw: KubeObject, secrets: Mapping[Where, KubeObject], content: StoredContent
    ) -> None:
        """Keeps what was decoded from a set and its Secrets."""
        self.drop(raw)
        size = sum(len(text) for s in secrets.values() for text in (s.get("data") or {}).values())
        self._entries[_uid(raw)] = _Entry(
            metadata(raw).get("generation"), _uids(secrets), content, size
        )
        while self._entries and self._size() > self._max_bytes:
            self._entries.popitem(last=False)

    def drop(self, raw: KubeObject) -> None:
        """Forgets a set that nobody works on any more."""
        self._entries.pop(_uid(raw), None)

    def _size(self) -> int:
        return sum(entry.size for entry in self._entries.values())


def _uids(secrets: Mapping[Where, KubeObject]) -> dict[Where, str]:
    return {where: _uid(secret) for where, secret in secrets.items()}


def _uid(obj: KubeObject) -> str:
    return str(metadata(obj).get("uid") or "")
