"""Packages as catalogs' servers send them, for tests of what is made of them."""

from typing import Any

import orjson

from olm_catalogs.registry import registry_pb2 as messages
from olm_classic.package_manifests.manifests import (
    Catalog,
    Entry,
    Manifest,
    manifest_of,
    read_package,
)
from olm_classic.package_manifests.packed import Packed, pack

CATALOG = Catalog(
    "olm", "operators", "2026-01-01T00:00:00Z", "All Operators", "ACME", labels={"team": "a"}
)


def csv(**spec: Any) -> str:
    return orjson.dumps({"spec": {"version": "1.0.0", **spec}}).decode()


def package_of(
    name: str = "hello", channels: dict[str, str] | None = None, default: str = "stable"
) -> messages.Package:
    """`channels` are names of heads by channel."""
    package = messages.Package(name=name, defaultChannelName=default)
    for channel, head in (channels or {"stable": f"{name}.v1.0.0"}).items():
        package.channels.add(name=channel, csvName=head)
    return package


def manifest(
    package: messages.Package,
    heads: dict[str, str],
    entries: dict[str, list[Entry]] | None = None,
    catalog: Catalog = CATALOG,
) -> Manifest:
    read = read_package(package, heads, entries or {})
    assert read is not None
    return manifest_of(catalog, read)


def packed(name: str = "hello", catalog: Catalog = CATALOG, **spec: Any) -> Packed:
    return pack(manifest(package_of(name), {f"{name}.v1.0.0": csv(**spec)}, catalog=catalog))
