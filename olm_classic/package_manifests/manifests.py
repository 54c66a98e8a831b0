"""A PackageManifest, made of what a catalog says of a package."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from olm_catalogs.registry import registry_pb2 as messages
from olm_classic.package_manifests import csvs
from olm_classic.package_manifests.icons import Icon, icon_of
from olm_content.names import DEPRECATED
from olm_content.versions import VersionError, parse_version

GROUP, VERSION, KIND, PLURAL = (
    "packages.operators.coreos.com", "v1", "PackageManifest", "packagemanifests",
)  # fmt: skip
API_VERSION = f"{GROUP}/{VERSION}"
CATALOG_LABEL, CATALOG_NAMESPACE_LABEL = "catalog", "catalog-namespace"
PROVIDER_LABEL, PROVIDER_URL_LABEL = "provider", "provider-url"
OS_PREFIX, ARCH_PREFIX = "operatorframework.io/os.", "operatorframework.io/arch."
DEFAULT_OS, DEFAULT_ARCH = f"{OS_PREFIX}linux", f"{ARCH_PREFIX}amd64"
SUPPORTED = "supported"


@dataclass(frozen=True, slots=True)
class Catalog:
    """A CatalogSource, as far as its packages show it; `created` is in RFC 3339."""

    namespace: str
    name: str
    created: str = ""
    display_name: str = ""
    publisher: str = ""
    priority: int = 0
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entry:
    """A bundle in a channel; the deprecation is None for none."""

    name: str
    version: str
    deprecation: str | None = None


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel, the ClusterServiceVersion at its head, and what is in it."""

    name: str
    head: str
    csv: Mapping[str, Any]
    entries: tuple[Entry, ...] = ()
    deprecation: str | None = None


@dataclass(frozen=True, slots=True)
class Package:
    """A package with the channels that can be read."""

    name: str
    default_channel: str
    channels: tuple[Channel, ...]
    deprecation: str | None = None

    @property
    def default(self) -> Channel:
        """The default channel; the first one where that cannot be read."""
        named = (each for each in self.channels if each.name == self.default_channel)
        return next(named, self.channels[0])


@dataclass(frozen=True, slots=True)
class Manifest:
    """A PackageManifest.

    metadata  without the namespace, which is that of who asks
    """

    catalog: Catalog
    metadata: Mapping[str, Any]
    status: Mapping[str, Any]
    icon: Icon


def read_package(
    package: messages.Package,
    heads: Mapping[str, str],
    entries: Mapping[str, Sequence[Entry]],
) -> Package | None:
    """What a catalog says of a package; None if no channel can be read.

    `heads` are the ClusterServiceVersions (JSON) by name, `entries` those of channels.
    """
    channels = []
    for each in sorted(package.channels, key=lambda channel: channel.name):
        try:
            csv = csvs.read_csv(heads.get(each.csvName, ""))
        except csvs.UnreadableError:
            continue
        within = tuple(entries.get(each.name, ()))
        channels.append(Channel(each.name, each.csvName, csv, within, deprecation_of(each)))
    if not channels:
        return None
    return Package(
        package.name, package.defaultChannelName, tuple(channels), deprecation_of(package)
    )


def entry_of(bundle: messages.Bundle) -> Entry | None:
    """A bundle as entry of its channel; None for one that is left out."""
    if any(each.type == DEPRECATED for each in bundle.properties):
        return None
    return Entry(bundle.csvName, bundle.version, deprecation_of(bundle))


def deprecation_of(message: Any) -> str | None:
    """Why something is deprecated; None if it is not."""
    return message.deprecation.message if message.HasField("deprecation") else None


def manifest_of(catalog: Catalog, package: Package) -> Manifest:
    """The PackageManifest of a package."""
    default = package.default
    provider = csvs.provider(default.csv)
    status = {
        "catalogSource": catalog.name,
        "catalogSourceDisplayName": catalog.display_name,
        "catalogSourcePublisher": catalog.publisher,
        "catalogSourceNamespace": catalog.namespace,
        "provider": provider,
        "packageName": package.name,
        **_deprecation(package.deprecation),
        "channels": [_channel(each) for each in package.channels],
        "defaultChannel": default.name,
    }
    metadata = {
        "name": package.name,
        **({"creationTimestamp": catalog.created} if catalog.created else {}),
        "labels": _labels(catalog, provider, csvs.labels_in(default.csv)),
    }
    icon = icon_of(*csvs.icon_in(default.csv), f"{package.name}.{default.name}.{default.head}")
    return Manifest(catalog, metadata, status, icon)


def _labels(
    catalog: Catalog, provider: Mapping[str, str], of_csv: Mapping[str, str]
) -> dict[str, str]:
    """No content of a catalog may say that it is of another catalog."""
    labels = {
        **catalog.labels,
        **of_csv,
        CATALOG_LABEL: catalog.name,
        CATALOG_NAMESPACE_LABEL: catalog.namespace,
        PROVIDER_LABEL: provider.get("name", ""),
        PROVIDER_URL_LABEL: provider.get("url", ""),
    }
    for prefix, default in ((OS_PREFIX, DEFAULT_OS), (ARCH_PREFIX, DEFAULT_ARCH)):
        if not any(key.startswith(prefix) for key in labels):
            labels[default] = SUPPORTED
    return labels


def _channel(channel: Channel) -> dict[str, Any]:
    return {
        "name": channel.name,
        "currentCSV": channel.head,
        "currentCSVDesc": csvs.description(channel.csv),
        **_deprecation(channel.deprecation),
        "entries": [
            {
                "name": entry.name,
                **({"version": entry.version} if entry.version else {}),
                **_deprecation(entry.deprecation),
            }
            for entry in newest_first(channel.entries)
        ],
    }


def newest_first(entries: Iterable[Entry]) -> list[Entry]:
    """By descending version, then by name; what has none comes last."""
    named = sorted(entries, key=lambda entry: entry.name)
    return sorted(named, key=_precedence, reverse=True)


def _precedence(entry: Entry) -> tuple[Any, ...]:
    try:
        return (1, parse_version(entry.version).key)
    except VersionError:
        return (0,)


def _deprecation(message: str | None) -> dict[str, Any]:
    return {} if message is None else {"deprecation": {"message": message}}
