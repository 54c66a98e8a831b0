"""What each method of the registry API answers: serialised messages. Pure.

A request is a message of the type that the table of methods names.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Protocol

from olm_catalogs.registry import registry_pb2
from olm_catalogs.registry.building import META_WORD
from olm_catalogs.registry.index import Index, ServedEntry, Update


class InvalidRequestError(ValueError):
    """A request that says what cannot be."""


class Catalog(Protocol):
    """What is served."""

    @property
    def index(self) -> Index:
        """Packages, channels and entries."""

    def bundle(self, entry: ServedEntry) -> bytes:
        """The bundle in its channel, without what it updates."""

    def listed(self, entry: ServedEntry) -> bytes:
        """The bundle as it is listed among all others."""

    def metas(self, schema: str, package: str) -> Iterable[bytes]:
        """The records of a schema that is not OLM's."""


Answer = Callable[[Catalog, Any], Iterable[bytes]]
"""Raises NotFoundError or InvalidRequestError before its first message."""


def _list_packages(catalog: Catalog, _: Any) -> Iterator[bytes]:
    make = registry_pb2.PackageName
    for name in catalog.index.packages:
        yield make(name=name).SerializeToString()


def _get_package(catalog: Catalog, request: Any) -> Iterator[bytes]:
    package = catalog.index.package(request.name)
    answer = registry_pb2.Package(name=package.name, defaultChannelName=package.default_channel)
    for channel in package.channels.values():
        added = answer.channels.add(name=channel.name, csvName=channel.head)
        if channel.deprecation is not None:
            added.deprecation.message = channel.deprecation
    if package.deprecation is not None:
        answer.deprecation.message = package.deprecation
    yield answer.SerializeToString()


def _get_bundle(catalog: Catalog, request: Any) -> Iterator[bytes]:
    entry = catalog.index.entry(request.pkgName, request.channelName, request.csvName)
    yield catalog.bundle(entry)


def _get_head(catalog: Catalog, request: Any) -> Iterator[bytes]:
    yield catalog.bundle(catalog.index.head(request.pkgName, request.channelName))


def _get_replacement(catalog: Catalog, request: Any) -> Iterator[bytes]:
    entry = catalog.index.that_replaces(request.csvName, request.pkgName, request.channelName)
    yield catalog.bundle(entry)


def _list_replacements(catalog: Catalog, request: Any) -> Iterator[bytes]:
    yield from _entries(catalog.index.all_that_replace(request.csvName))


def _list_providers(catalog: Catalog, request: Any) -> Iterator[bytes]:
    api = request.group, request.version, request.kind
    yield from _entries(catalog.index.all_that_provide(api))


def _list_latest_providers(catalog: Catalog, request: Any) -> Iterator[bytes]:
    api = request.group, request.version, request.kind
    yield from _entries(catalog.index.heads_that_provide(api))


def _get_default_provider(catalog: Catalog, request: Any) -> Iterator[bytes]:
    api = request.group, request.version, request.kind
    yield catalog.bundle(catalog.index.default_that_provides(api))


def _list_bundles(catalog: Catalog, _: Any) -> Iterator[bytes]:
    """By channel, package and name: upstream's order."""
    entries = catalog.index.entries()
    for entry in sorted(entries, key=lambda each: (each.channel, each.package, each.name)):
        yield catalog.listed(entry)


def _list_metas(catalog: Catalog, request: Any) -> Iterator[bytes]:
    if not request.schema:
        raise InvalidRequestError("schema is required")
    for what, word in (("schema", request.schema), ("packageName", request.packageName)):
        if word and not META_WORD.match(word):
            raise InvalidRequestError(
                f'invalid custom schema query: invalid {what} "{word}": must match '
                f"{META_WORD.pattern}"
            )
    yield from catalog.metas(request.schema, request.packageName)


def _entries(updates: Iterable[Update]) -> Iterator[bytes]:
    make = registry_pb2.ChannelEntry
    for update in updates:
        entry = update.entry
        yield make(
            packageName=entry.package,
            channelName=entry.channel,
            bundleName=entry.name,
            replaces=update.replaces,
        ).SerializeToString()


ANSWERS: Mapping[str, Answer] = MappingProxyType(
    {
        "ListPackages": _list_packages,
        "GetPackage": _get_package,
        "GetBundle": _get_bundle,
        "GetBundleForChannel": _get_head,
        "GetChannelEntriesThatReplace": _list_replacements,
        "GetBundleThatReplaces": _get_replacement,
        "GetChannelEntriesThatProvide": _list_providers,
        "GetLatestChannelEntriesThatProvide": _list_latest_providers,
        "GetDefaultBundleThatProvides": _get_default_provider,
        "ListBundles": _list_bundles,
        "ExperimentalListPackageCustomSchemas": _list_metas,
    }
)
"""By the method's name; every method has one."""
