"""How the resolver looks into a catalog: by key, so that what is not in question is not read."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from olm_classic.resolve.entries import Api, Entry, SourceKey

Place = tuple[str, str]
"""Package and channel."""
Holds = Callable[[Entry], bool]


def places_of(entries: Iterable[Entry]) -> frozenset[Place]:
    """The places of entries."""
    return frozenset((entry.package, entry.channel) for entry in entries)


def api_key(api: Api) -> str:
    """The key of the entries that provide an API."""
    return f"api:{'/'.join(api)}"


def package_key(name: str) -> str:
    """The key of the entries of a package."""
    return f"package:{name}"


def label_key(label: str) -> str:
    """The key of the entries with an `olm.label`."""
    return f"label:{label}"


def keys_of(entry: Entry) -> frozenset[str]:
    """All keys under which an entry is found."""
    labels = (
        value.get("label")
        for each in entry.properties
        if each.get("type") == "olm.label" and isinstance(value := each.get("value"), Mapping)
    )
    return frozenset(
        {
            package_key(entry.package),
            *map(package_key, entry.packages),
            *map(api_key, entry.apis),
            *(label_key(str(label or "")) for label in labels),
        }
    )


@dataclass(frozen=True, slots=True)
class Deprecations:
    """What a catalog says of a package going away; None for what stays."""

    package: str | None = None
    channels: Mapping[str, str] = field(default_factory=dict)
    bundles: Mapping[str, str] = field(default_factory=dict)


class Reader(Protocol):
    """The content of one catalog. Its answers depend on nothing but that content."""

    @property
    def empty(self) -> bool:
        """Whether it has no entry at all."""

    def packages(self, name: str) -> Sequence[Entry]:
        """The entries whose place is in the package."""

    def having(self, key: str) -> Sequence[Entry]:
        """The entries with a key of `keys_of`."""

    def scan(self) -> Iterator[Entry]:
        """All entries, one after another."""

    def search(self, id_: str, holds: Holds) -> frozenset[Place]:
        """The places of entries for which a test holds; the test may be remembered by its id."""

    def deprecations(self, package: str) -> Deprecations:
        """What goes away of a package."""


class MemoryReader:
    """Entries in memory; `deprecated` by package."""

    def __init__(
        self,
        entries: Iterable[Entry] = (),
        deprecated: Mapping[str, Deprecations] | None = None,
    ) -> None:
        self.entries = tuple(entries)
        self._deprecated = dict(deprecated or {})
        self._found: dict[str, list[Entry]] | None = None
        self._packages: dict[str, list[Entry]] = {}

    @property
    def empty(self) -> bool:
        """Whether it has no entry at all."""
        return not self.entries

    def packages(self, name: str) -> Sequence[Entry]:
        """The entries whose place is in the package."""
        self._index()
        return self._packages.get(name, [])

    def having(self, key: str) -> Sequence[Entry]:
        """The entries with a key of `keys_of`."""
        return self._index().get(key, [])

    def scan(self) -> Iterator[Entry]:
        """All entries, one after another."""
        return iter(self.entries)

    def search(self, id_: str, holds: Holds) -> frozenset[Place]:  # noqa: ARG002 - not remembered
        """The places of entries for which a test holds."""
        return places_of(filter(holds, self.entries))

    def deprecations(self, package: str) -> Deprecations:
        """What goes away of a package."""
        return self._deprecated.get(package, Deprecations())

    def _index(self) -> dict[str, list[Entry]]:
        if self._found is None:
            self._found = {}
            for entry in self.entries:
                self._packages.setdefault(entry.package, []).append(entry)
                for key in keys_of(entry):
                    self._found.setdefault(key, []).append(entry)
        return self._found


@dataclass(frozen=True, slots=True)
class Catalog:
    """A catalog that may be looked into; `problem` says why it cannot be asked."""

    key: SourceKey
    priority: int = 0
    content: Reader = field(default_factory=MemoryReader)
    problem: str = ""
