"""ClusterServiceVersions that are copied, and where to."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from api.objects import KubeObject, annotations_of, is_deleting, metadata, name_of, namespace_of
from olm_classic.csv.copies import REASON_COPIED
from olm_classic.csv.phases import Phase, Reason
from olm_classic.names import ALL_NAMESPACES
from olm_classic.operator_groups.targets import from_annotation
from olm_content.names import ANNOTATION_OPERATOR_NAMESPACE, ANNOTATION_TARGET_NAMESPACES

Key = tuple[str, str]
"""Namespace and name."""

NOT_COPIED = frozenset(
    {
        REASON_COPIED,
        Reason.INVALID_MODES,
        Reason.NO_TARGETS,
        Reason.UNSUPPORTED_GROUP,
        Reason.NO_GROUP,
        Reason.TOO_MANY_GROUPS,
        Reason.API_CONFLICT,
        Reason.STATIC_APIS,
    }
)
"""Reasons of ClusterServiceVersions that are no working members of a group."""
ENDS_COPIES = frozenset({Reason.API_CONFLICT, Reason.NO_GROUP})
"""Reasons of those that work nowhere any more: their group is gone, or another has their APIs."""


@dataclass(frozen=True, slots=True)
class Source:
    """Of a ClusterServiceVersion that is no copy: where copies of it are.

    version  its resourceVersion
    targets  where it works, other than its own namespace; with an empty one everywhere
    copied   whether copies of it are made and updated with it; else they stay as they are
    """

    key: Key
    uid: str
    version: str
    targets: frozenset[str]
    copied: bool

    @classmethod
    def of(cls, csv: KubeObject) -> Self:
        """That of a ClusterServiceVersion."""
        status, own = csv.get("status") or {}, namespace_of(csv)
        phase, reason = str(status.get("phase") or ""), status.get("reason")
        annotations = annotations_of(csv)
        annotation = annotations.get(ANNOTATION_TARGET_NAMESPACES)
        works_here = annotations.get(ANNOTATION_OPERATOR_NAMESPACE) == own
        ended = phase == Phase.FAILED and reason in ENDS_COPIES
        works = works_here and annotation is not None and not ended
        return cls(
            key=(own, name_of(csv)),
            uid=str(metadata(csv).get("uid") or ""),
            version=str(metadata(csv).get("resourceVersion") or ""),
            targets=frozenset(from_annotation(annotation or "")) - {own} if works else frozenset(),
            copied=works and bool(phase) and reason not in NOT_COPIED and not is_deleting(csv),
        )

    @property
    def everywhere(self) -> bool:
        """Whether it works in all namespaces."""
        return ALL_NAMESPACES in self.targets

    def works_in(self, namespace: str) -> bool:
        """Whether a copy of it may be there."""
        return namespace != self.key[0] and (self.everywhere or namespace in self.targets)


@dataclass(frozen=True, slots=True)
class Copying:
    """Whether operators of all namespaces are copied; where they are even if not."""

    disabled: bool = False
    protected: frozenset[str] = frozenset()

    def allows(self, source: Source, namespace: str) -> bool:
        """Whether a copy of a source may be in a namespace."""
        off = self.disabled and source.everywhere and namespace not in self.protected
        return source.works_in(namespace) and not off


class Sources:
    """All ClusterServiceVersions that are no copies, as their changes come."""

    def __init__(self) -> None:
        self._sources: dict[Key, Source] = {}
        self._by_name: dict[str, dict[Key, None]] = {}
        self._by_target: dict[str, dict[Key, None]] = {}

    def put(self, source: Source) -> None:
        """It is there, and so from now on."""
        self.drop(source.key)
        self._sources[source.key] = source
        self._by_name.setdefault(source.key[1], {})[source.key] = None
        for target in source.targets:
            self._by_target.setdefault(target, {})[source.key] = None

    def drop(self, key: Key) -> None:
        """It is gone, if it was there."""
        source = self._sources.pop(key, None)
        if source is None:
            return
        _remove(self._by_name, key[1], key)
        for target in source.targets:
            _remove(self._by_target, target, key)

    def get(self, key: Key) -> Source | None:
        """The one of a namespace and name."""
        return self._sources.get(key)

    def all(self) -> list[Source]:
        """Those that work in more namespaces than their own."""
        return [source for source in self._sources.values() if source.targets]

    def everywhere(self) -> list[Source]:
        """Those that work in all namespaces."""
        return [self._sources[key] for key in self._by_target.get(ALL_NAMESPACES, ())]

    def works_in(self, namespace: str) -> list[Source]:
        """Those that work in a namespace that is not their own."""
        keys = {**self._by_target.get(ALL_NAMESPACES, {}), **self._by_target.get(namespace, {})}
        return [self._sources[key] for key in keys if self._sources[key].works_in(namespace)]

    def copied_to(self, namespace: str, name: str, copying: Copying) -> Source | None:
        """The one that a namespace is to have a copy of under a name: of several the first."""
        found = (self._sources[key] for key in sorted(self._by_name.get(name, ())))
        return next((s for s in found if s.copied and copying.allows(s, namespace)), None)

    def wanted_in(self, source: Source, copying: Copying, active: Iterable[str]) -> set[str]:
        """Those of all active namespaces that are to have a copy of a source."""
        if not source.copied:
            return set()
        name = source.key[1]
        namespaces = {each for each in active if copying.allows(source, each)}
        others = {namespace for namespace, _ in self._by_name[name]}
        if len(others) == 1:
            return namespaces
        return {
            each for each in namespaces - others if self.copied_to(each, name, copying) == source
        }


def _remove(index: dict[str, dict[Key, None]], value: str, key: Key) -> None:
    index[value].pop(key)
    if not index[value]:
        del index[value]
