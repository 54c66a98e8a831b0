"""What the resolver chooses from: bundles in channels of catalogs, and installed CSVs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from olm_content.fbc.model import Package, read_skip_range
from olm_content.ranges.skip import SkipRange
from olm_content.versions import Version, VersionError, parse_version

Property = Mapping[str, Any]
"""`type` and `value`."""

Api = tuple[str, str, str]
"""Group, version and kind."""

LEFT_OUT = frozenset({"olm.bundle.object", "olm.csv.metadata"})
REQUIRED_TWICE = frozenset({"olm.gvk.required", "olm.package.required"})
MAX_PARTS = 3


class SourceKey(NamedTuple):
    """A catalog, or with the name `@existing` the CSVs of a namespace."""

    name: str
    namespace: str

    @property
    def virtual(self) -> bool:
        """Whether it holds what is installed."""
        return self.name == EXISTING


EXISTING = "@existing"


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A bundle in one channel of a catalog, or an installed CSV (its channel is empty)."""

    name: str
    source: SourceKey
    package: str = ""
    channel: str = ""
    replaces: str = ""
    skips: tuple[str, ...] = ()
    skip_range: str = ""
    version: Version | None = None
    image: str = ""
    default_channel: str = ""
    properties: tuple[Property, ...] = ()
    apis: tuple[Api, ...] = field(init=False)
    packages: tuple[str, ...] = field(init=False)
    id: str = field(init=False)

    def __post_init__(self) -> None:
        values = [(p.get("type"), p.get("value")) for p in self.properties]
        maps = [(kind, value) for kind, value in values if isinstance(value, Mapping)]
        apis = tuple(_api(value) for kind, value in maps if kind == "olm.gvk")
        names = tuple(
            str(value.get("packageName", "")) for kind, value in maps if kind == "olm.package"
        )
        object.__setattr__(self, "apis", apis)
        object.__setattr__(self, "packages", names)
        key = f"{self.source.name}/{self.source.namespace}/{self.channel}/{self.name}"
        object.__setattr__(self, "id", key)

    @property
    def in_default_channel(self) -> bool:
        """Whether its channel is its package's default."""
        return bool(self.default_channel) and self.channel == self.default_channel

    def of_package(self, name: str) -> bool:
        """Whether it is of the package, by its property or its place."""
        return self.package == name or name in self.packages

    def updates(self, installed: "Entry") -> bool:
        """Whether it replaces or skips the installed CSV, by name or by version."""
        if installed.name == self.replaces or installed.name in self.skips:
            return True
        if not self.skip_range or installed.version is None:
            return False
        accepted = read_skip_range(self.skip_range)
        return isinstance(accepted, SkipRange) and accepted.matches(installed.version)


def entries_of(
    package: Package, properties: Mapping[str, Iterable[Property]], key: SourceKey
) -> list[Entry]:
    """The entries of a file-based package; `properties` are those of its bundles by name.

    Each required property stands twice, as upstream's registry gives it.
    """
    found = []
    bundles = {bundle.name: bundle for bundle in package.bundles}
    for channel in package.channels:
        for entry in channel.entries:
            bundle = bundles.get(entry.name)
            if bundle is None:
                continue
            given = _seen(properties.get(entry.name, ()))
            found.append(
                Entry(
                    entry.name,
                    key,
                    package.name,
                    channel.name,
                    entry.replaces,
                    entry.skips,
                    entry.skip_range,
                    _version(given),
                    bundle.image,
                    package.default_channel,
                    given,
                )
            )
    return found


def tolerant_version(text: str) -> Version | None:
    """The version, also with a leading `v`, leading zeros or fewer parts; None for none."""
    text = text.strip().removeprefix("v")
    numbers, sign, rest = _cut(text)
    parts = numbers.split(".")
    if len(parts) > MAX_PARTS or (sign and len(parts) < MAX_PARTS):
        return None
    padded = [part.lstrip("0") or "0" if part else "" for part in parts]
    padded += ["0"] * (MAX_PARTS - len(parts))
    try:
        return parse_version(".".join(padded) + sign + rest)
    except VersionError:
        return None


def _cut(text: str) -> tuple[str, str, str]:
    places = [place for sign in "-+" if (place := text.find(sign)) >= 0]
    if not places:
        return text, "", ""
    place = min(places)
    return text[:place], text[place], text[place + 1 :]


def _api(value: Mapping[str, Any]) -> Api:
    return (str(value.get("group", "")), str(value.get("version", "")), str(value.get("kind", "")))


def _seen(given: Iterable[Property]) -> tuple[Property, ...]:
    remaining = [each for each in given if each.get("type") not in LEFT_OUT]
    twice = [each for each in remaining if each.get("type") in REQUIRED_TWICE]
    return (*remaining, *twice)


def _version(properties: Iterable[Property]) -> Version | None:
    for each in properties:
        if each.get("type") == "olm.package" and isinstance(each.get("value"), Mapping):
            return tolerant_version(str(each["value"].get("version", "")))
    return None
