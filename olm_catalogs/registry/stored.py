"""How an index is written down and read again. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from olm_catalogs.registry.bundles import Api
from olm_catalogs.registry.index import Channel, Index, Package, ServedEntry


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes of the file of bundles: `core` of them, then `content` of them."""

    offset: int
    core: int
    content: int
    has_image: bool


Metas = Mapping[str, Mapping[str, list[list[int]]]]
"""Records of schemas that are not OLM's, by schema and package: offset and length of each."""


@dataclass(frozen=True, slots=True)
class Stored:
    """An index, where the file of bundles has them by number, and records of other schemas."""

    index: Index
    spans: tuple[Span, ...]
    metas: Metas


def dump(
    packages: Iterable[Package],
    spans: Iterable[Span],
    metas: Metas,
) -> bytes:
    """The text of an index."""
    apis: dict[tuple[Api, ...], int] = {}
    listed = [_package_out(package, apis) for package in packages]
    return orjson.dumps(
        {
            "packages": listed,
            "apis": list(apis),
            "spans": [[span.offset, span.core, span.content, span.has_image] for span in spans],
            "metas": metas,
        }
    )


def load(text: bytes) -> Stored:
    """Reads it again. Raises ValueError, TypeError or LookupError for what `dump` did not write."""
    value = orjson.loads(text)
    apis = [tuple((group, version, kind) for group, version, kind in row) for row in value["apis"]]
    packages = {each.name: each for each in (_package_in(row, apis) for row in value["packages"])}
    spans = tuple(Span(*row) for row in value["spans"])
    return Stored(Index(packages), spans, value["metas"])


def _package_out(package: Package, apis: dict[tuple[Api, ...], int]) -> list[Any]:
    channels = [
        [
            channel.name,
            channel.head,
            channel.deprecation,
            [
                [
                    *(entry.name, entry.bundle, entry.replaces, entry.skips, entry.skip_range),
                    apis.setdefault(entry.provides, len(apis)),
                ]
                for entry in channel.entries.values()
            ],
        ]
        for channel in package.channels.values()
    ]
    return [package.name, package.default_channel, package.deprecation, channels]


def _package_in(row: list[Any], apis: list[tuple[Api, ...]]) -> Package:
    name, default, deprecation, channels = row
    return Package(
        name,
        default,
        {each.name: each for each in _channels_in(name, channels, apis)},
        deprecation,
    )


def _channels_in(package: str, rows: list[Any], apis: list[tuple[Api, ...]]) -> Iterator[Channel]:
    for name, head, deprecation, listed in rows:
        entries = {
            entry: ServedEntry(
                entry, replaces, tuple(skips), skip_range, package, name, bundle, apis[provides]
            )
            for entry, bundle, replaces, skips, skip_range, provides in listed
        }
        yield Channel(name, head, entries, deprecation)
