"""Reads the packages of a catalog from its server."""

import asyncio
from contextlib import aclosing

from olm_catalogs.registry import registry_pb2 as messages
from olm_classic.io.registry import NotInCatalogError, RegistryConnection
from olm_classic.package_manifests.manifests import (
    Catalog,
    Entry,
    entry_of,
    manifest_of,
    read_package,
)
from olm_classic.package_manifests.packed import Packed, pack

AT_A_TIME = 8
"""Packages that are asked for at once."""

Entries = dict[str, dict[str, list[Entry]]]
"""By package and channel."""


async def read_catalog(connection: RegistryConnection, catalog: Catalog) -> list[Packed]:
    """All packages of a catalog. Raises RegistryError."""
    entries = await _entries(connection)
    names = await connection.list_packages()
    room = asyncio.Semaphore(AT_A_TIME)

    async def read(name: str) -> Packed | None:
        async with room:
            return await _read(connection, catalog, name, entries.get(name, {}))

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(read(name)) for name in names]
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from errors
    return [packed for task in tasks if (packed := task.result()) is not None]


async def _entries(connection: RegistryConnection) -> Entries:
    found: Entries = {}
    async with aclosing(connection.list_bundles()) as bundles:
        async for bundle in bundles:
            entry = entry_of(bundle)
            if entry is not None:
                channels = found.setdefault(bundle.packageName, {})
                channels.setdefault(bundle.channelName, []).append(entry)
    return found


async def _read(
    connection: RegistryConnection, catalog: Catalog, name: str, entries: dict[str, list[Entry]]
) -> Packed | None:
    """A package; None if it has gone meanwhile, or nothing of it can be read."""
    try:
        found = await connection.get_package(name)
    except NotInCatalogError:
        return None
    package = read_package(found, await _heads(connection, found), entries)
    return None if package is None else pack(manifest_of(catalog, package))


async def _heads(connection: RegistryConnection, package: messages.Package) -> dict[str, str]:
    """The ClusterServiceVersions at the heads of channels, each asked for once."""
    heads: dict[str, str] = {}
    for channel in package.channels:
        if channel.csvName in heads:
            continue
        try:
            bundle = await connection.get_bundle(package.name, channel.name, channel.csvName)
        except NotInCatalogError:
            continue
        heads[channel.csvName] = bundle.csvJson
    return heads
