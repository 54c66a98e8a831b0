"""The catalogs of OLM Classic from folders and images, read package by package."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from olm_classic.resolve import Catalog, Deprecations, Entry, MemoryReader, SourceKey
from olm_classic.resolve.fbc_entries import entries_of_blobs
from olm_classic.resolve.readers import Holds, Place, package_key, places_of
from olm_client.catalogs.choice import chosen
from olm_client.catalogs.content import Content
from olm_client.catalogs.sources import Sources
from olm_client.usage import InvalidValueError
from olm_runtime.errors import OLMError

_PACKAGE = package_key("")


class ContentReader:
    """Looks into a catalog; all of it is read when something is sought by what it provides."""

    def __init__(self, content: Content, key: SourceKey) -> None:
        self._content = content
        self._key = key
        self._packages: dict[str, tuple[Entry, ...]] = {}
        self._all: MemoryReader | None = None

    @property
    def empty(self) -> bool:
        """Whether it has no entry at all."""
        return next(self.scan(), None) is None

    def packages(self, name: str) -> Sequence[Entry]:
        """The entries whose place is in the package."""
        if name not in self._packages:
            blobs = map(orjson.loads, self._content.blobs(name))
            self._packages[name] = entries_of_blobs(name, blobs, self._key)
        return self._packages[name]

    def having(self, key: str) -> Sequence[Entry]:
        """The entries with a key of `keys_of`."""
        if key.startswith(_PACKAGE):
            return self.packages(key.removeprefix(_PACKAGE))
        if self._all is None:
            self._all = MemoryReader(self.scan())
        return self._all.having(key)

    def scan(self) -> Iterator[Entry]:
        """All entries, one after another."""
        for name in self._content.digests():
            yield from self.packages(name)

    def search(self, id_: str, holds: Holds) -> frozenset[Place]:  # noqa: ARG002 - of the protocol
        """The places of entries for which a test holds."""
        return places_of(filter(holds, self.scan()))

    def deprecations(self, package: str) -> Deprecations:  # noqa: ARG002 - of the protocol
        """Not read here."""
        return Deprecations()


@dataclass(frozen=True, slots=True)
class Given:
    """A catalog as `--catalog` names it."""

    key: SourceKey
    where: str
    priority: int


def given_catalog(text: str, global_namespace: str) -> Given:
    """Reads `[NAMESPACE/]NAME=FOLDER|IMAGE[,priority=N]`. Raises TerminalError."""
    name, equals, rest = text.partition("=")
    namespace, slash, inner = name.rpartition("/")
    if not equals or not inner or not rest or (slash and not namespace):
        raise InvalidValueError(
            f"{text}: expected [NAMESPACE/]NAME=FOLDER|IMAGE[,priority=N]", option="--catalog"
        )
    choice = chosen(f"{inner}={rest}")
    return Given(SourceKey(inner, namespace or global_namespace), choice.where, choice.priority)


def read_catalog(given: Given, options: Mapping[str, Any]) -> Catalog:
    """The catalog. Raises OLMError for one that cannot be read."""
    sources = Sources({**options, "catalogd_cas_dir": None, "allow_http_catalogs": False})
    content = sources.content(f"{given.key.name}={given.where}")
    return Catalog(given.key, given.priority, ContentReader(content, given.key))


def try_catalog(given: Given, options: Mapping[str, Any]) -> Catalog:
    """The same; one that cannot be read is there with its problem, as in a cluster."""
    try:
        return read_catalog(given, options)
    except OLMError as error:
        return Catalog(given.key, given.priority, problem=error.message)
