"""The objects of one kind in memory, as new as anything that was seen of them.

A list, a watch and the answers to our own writes feed a store. They arrive in any order: a watch
lags behind an answer, an answer may lag behind a watch. So each object is stored with its
resourceVersion and never goes back to an older one. Versions of one kind grow, as Kubernetes' API
conventions promise. After a backup of etcd was restored they start lower; then the list decides.

Event handlers are called once for each change, whichever source brought it first.
"""

import logging
import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from enum import StrEnum
from time import monotonic
from typing import Generic, NamedTuple, Protocol, TypeVar

from api.objects import KubeObject, metadata, name_of, namespace_of
from olm_runtime.errors import TransientError

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

Key = tuple[str, str]
"""Namespace (empty for cluster-scoped kinds) and name."""
Indexer = Callable[[T], Iterable[Hashable]]
"""Gives the values under which an object is found in an index."""

MAX_TOMBSTONES, TOMBSTONE_SECONDS = 1000, 300.0
"""A deleted object is remembered for as long as an old answer about it may arrive."""

log = logging.getLogger(__name__)


class NotSyncedError(TransientError):
    """A store was asked too early. Heals when the kind was listed."""


class EventType(StrEnum):
    """What happened to an object."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


class Event(NamedTuple, Generic[T]):
    """A change of a store.

    old      the object before; None if it was added
    new      the object now; None if it was deleted
    initial  whether it was added by the first list: it may have been there for long
    """

    key: Key
    old: T | None
    new: T | None
    initial: bool = False

    @property
    def type(self) -> EventType:
        """What happened."""
        if self.old is None:
            return EventType.ADDED
        return EventType.DELETED if self.new is None else EventType.MODIFIED

    @property
    def object(self) -> T:
        """The object now, or as it was last."""
        found = self.old if self.new is None else self.new
        if found is None:
            raise ValueError("an event is about an object")
        return found


EventHandler = Callable[[Event[T]], None]


class Entry(Protocol[T_co]):
    """An object as it is stored."""

    @property
    def uid(self) -> str:
        """Its UID."""
        ...

    @property
    def version(self) -> int | None:
        """Its resourceVersion; None if that is no number."""
        ...

    @property
    def value(self) -> T_co:
        """What the transform made of it."""
        ...


class _Plain(NamedTuple, Generic[T]):
    uid: str
    version: int | None
    value: T


class Store(Generic[T]):
    """Objects by namespace and name, each as `transform` makes it of what the server sent.

    What `get`, `objects` and `by_index` give is for reading only.
    """

    __slots__ = (
        "_entries",
        "_handlers",
        "_indexers",
        "_indices",
        "_newest",
        "_tombstones",
        "_transform",
        "synced",
    )

    def __init__(
        self,
        transform: Callable[[KubeObject], T],
        indexers: Mapping[str, Indexer[T]] | None = None,
    ) -> None:
        """`indexers` are the indexes by name."""
        self.synced = False
        """Whether a list was stored."""
        self._transform = transform
        self._entries: dict[Key, Entry[T]] = {}
        self._indexers = dict(indexers or {})
        self._indices: dict[str, dict[Hashable, dict[Key, None]]] = {
            name: {} for name in self._indexers
        }
        self._handlers: list[EventHandler[T]] = []
        self._newest = 0
        self._tombstones: dict[str, tuple[int, float]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def newest(self) -> int:
        """The newest version that was seen of the kind; 0 if none was."""
        return self._newest

    def add_event_handler(self, handler: EventHandler[T]) -> None:
        """Has a handler called with each change from now on."""
        self._handlers.append(handler)

    def add_index(self, name: str, indexer: Indexer[T]) -> None:
        """Adds an index; one of the same name is replaced."""
        self._indexers[name], self._indices[name] = indexer, {}
        for key, entry in self._entries.items():
            self._index(name, key, entry.value)

    def check_synced(self) -> None:
        """Raises NotSyncedError until there was a list: nobody may rely on what is missing."""
        if not self.synced:
            raise NotSyncedError("objects that are needed were not listed yet")

    def get(self, name: str, namespace: str = "") -> T | None:
        """The object of that name, or None."""
        entry = self._entries.get((namespace, name))
        return entry.value if entry is not None else None

    def objects(self) -> list[T]:
        """All objects."""
        return [entry.value for entry in self._entries.values()]

    def items(self) -> list[tuple[Key, T]]:
        """Namespace and name of each object, with the object."""
        return [(key, entry.value) for key, entry in self._entries.items()]

    def by_index(self, index: str, value: Hashable) -> list[T]:
        """The objects that have a value in an index. Raises KeyError for an unknown index."""
        return [self._entries[key].value for key in self._indices[index].get(value, ())]

    def keys_by_index(self, index: str, value: Hashable) -> list[Key]:
        """Namespace and name of each object that has a value in an index. Raises KeyError."""
        return list(self._indices[index].get(value, ()))

    def index_values(self, index: str) -> list[Hashable]:
        """The values that objects have in an index. Raises KeyError."""
        return [value for value, keys in self._indices[index].items() if keys]

    def replace(self, objects: Iterable[KubeObject], version: str, *, since: int = 0) -> None:
        """Takes in a list of the whole kind.

        `version` is the list's; `since` is `newest` as it was when a list was asked for that must
        not be older than the moment, or than `newest`. One that is older all the same comes of a
        restored etcd: then everything is as the list has it.
        """
        listed = _number(version)
        restored = listed is not None and listed < since
        if restored:
            self._tombstones.clear()
            self._newest = 0
        initial, self.synced = not self.synced, True
        events, present = [], set()
        for obj in objects:
            present.add((namespace_of(obj), name_of(obj)))
            events.append(self._put(obj, initial=initial, anyway=restored))
        covered = math.inf if restored or listed is None else listed
        for key, entry in tuple(self._entries.items()):
            if key not in present and (entry.version or 0) <= covered:
                events.append(self._drop(key, listed))
        self._newest = max(self._newest, listed or 0)
        for event in events:
            self._dispatch(event)

    def update(self, obj: KubeObject) -> None:
        """Takes in an object from a watch, or from the answer to a read or to a write of ours."""
        self._newest = max(self._newest, _number_of(obj) or 0)
        self._dispatch(self._put(obj))

    def delete(self, obj: KubeObject) -> None:
        """Takes in that an object was gone at its version; one that is newer is there again."""
        self._newest = max(self._newest, _number_of(obj) or 0)
        key, uid, version = (namespace_of(obj), name_of(obj)), _uid(obj), _number_of(obj)
        entry = self._entries.get(key)
        if entry is not None and entry.uid == uid and not _is_older(version, entry.version):
            self._dispatch(self._drop(key, version))
        else:
            self._bury(uid, version)

    def entry(self, uid: str, version: int | None, value: T) -> Entry[T]:
        """How an object is stored."""
        return _Plain(uid, version, value)

    def _put(
        self, obj: KubeObject, *, initial: bool = False, anyway: bool = False
    ) -> Event[T] | None:
        """Stores an object that is newer than what is known; always with `anyway`."""
        key, uid, version = (namespace_of(obj), name_of(obj)), _uid(obj), _number_of(obj)
        old = self._entries.get(key)
        known = self._version_gone(uid) if old is None else old.version
        if not anyway and not _is_newer(version, known):
            return None
        before, now = old.value if old is not None else None, self._transform(obj)
        if before is not None:
            self._unindex(key, before)
        if old is not None and old.uid != uid:
            self._bury(old.uid, version)
        self._entries[key] = self.entry(uid, version, now)
        for name in self._indexers:
            self._index(name, key, now)
        return Event(key, before, now, initial)

    def _drop(self, key: Key, version: int | None) -> Event[T]:
        """Removes an object that was gone at a version."""
        entry = self._entries.pop(key)
        last = entry.value
        self._unindex(key, last)
        self._bury(entry.uid, version)
        return Event(key, last, None)

    def _index(self, name: str, key: Key, value: T) -> None:
        for found in self._indexers[name](value):
            self._indices[name].setdefault(found, {})[key] = None

    def _unindex(self, key: Key, value: T) -> None:
        for name, indexer in self._indexers.items():
            for found in indexer(value):
                keys = self._indices[name].get(found, {})
                keys.pop(key, None)
                if not keys:
                    self._indices[name].pop(found, None)

    def _bury(self, uid: str, version: int | None) -> None:
        """Remembers that an object was gone at a version.

        It may come back later: one that loses the label that it is selected by, and gets it again.
        """
        if uid and version is not None:
            now, (known, _) = monotonic(), self._tombstones.pop(uid, (0, 0.0))
            self._tombstones[uid] = max(version, known), now  # the newest is the last one
            while True:
                oldest, (_, since) = next(iter(self._tombstones.items()))
                if len(self._tombstones) <= MAX_TOMBSTONES and since >= now - TOMBSTONE_SECONDS:
                    return
                del self._tombstones[oldest]

    def _version_gone(self, uid: str) -> int | None:
        found = self._tombstones.get(uid)
        return found[0] if found is not None else None

    def _dispatch(self, event: Event[T] | None) -> None:
        """Calls the handlers; the fault of one does not concern the others."""
        if event is None:
            return
        for handler in self._handlers:
            try:
                handler(event)
            except Exception:
                log.exception("an event handler failed for %s", event.key[1])


def _is_newer(version: int | None, known: int | None) -> bool:
    """Versions that are no numbers cannot be compared: what comes later counts."""
    return version is None or known is None or version > known


def _is_older(version: int | None, known: int | None) -> bool:
    return version is not None and known is not None and version < known


def _number_of(obj: KubeObject) -> int | None:
    return _number(metadata(obj).get("resourceVersion"))


def _number(version: object) -> int | None:
    return int(version) if isinstance(version, str) and version.isdecimal() else None


def _uid(obj: KubeObject) -> str:
    return str(metadata(obj).get("uid") or "")
