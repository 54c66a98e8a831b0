"""The semver template: bundles listed by maturity, channels and edges made from their versions.

Channels are `<maturity>-v<major>` and `<maturity>-v<major>.<minor>`. Within a major version each
minor version's last patch release replaces that of the minor version before, and skips whatever
lies between; earlier patch releases have no edges of their own. (Source: the documentation of
upstream's semver template.)
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from olm_content.fbc.records import Record, package_value, properties
from olm_content.fbc.shapes import read
from olm_content.formats.go_text import quote
from olm_content.names import CHANNEL, PACKAGE
from olm_content.versions import Key, Version, VersionError, parse_version
from opm.migrate import embedded_csv
from opm.templates.template import RenderBundle, TemplateError, fields

MATURITIES = ("candidate", "fast", "stable")
"""From the least mature; the default channel comes from the most mature that has bundles."""
MAJOR, MINOR = "major", "minor"
_KEYS = {
    *("schema", "generatemajorchannels", "generateminorchannels", "defaultchanneltypepreference"),
    *MATURITIES,
}


@dataclass(frozen=True, slots=True)
class Options:
    """Which kinds of channels are made, and which kind the default channel preferably has."""

    kinds: tuple[str, ...]
    preferred: str


@dataclass(frozen=True, slots=True)
class Release:
    """A bundle and its version."""

    name: str
    version: Version


@dataclass(frozen=True, slots=True)
class Made:
    """A channel: the rank of its maturity, its kind, its entries and the first one's version."""

    rank: int
    kind: str
    name: str
    first: Version
    entries: list[dict[str, Any]]

    def stability(self, preferred: str) -> tuple[int, Key, bool, bool]:
        """What the default channel has the most of; as upstream, versions before preference."""
        return self.rank, self.first.key, self.kind == preferred, self.kind == MINOR


def expand_semver(document: Mapping[str, Any], render: RenderBundle) -> list[Record]:
    """The catalog of a semver template. Raises TemplateError, and what `render` raises."""
    template = fields(document, "the template", _KEYS)
    options = _options(template)
    images = {maturity: _images(template, maturity) for maturity in MATURITIES}
    rendered = {
        image: _one_bundle(image, render)
        for image in dict.fromkeys(image for listed in images.values() for image in listed)
    }
    if not rendered:
        raise TemplateError("no bundles specified or no bundles could be rendered")
    package = _package_of(list(rendered.values()))
    releases = {
        maturity: _releases([rendered[image] for image in listed])
        for maturity, listed in images.items()
    }
    made = [
        channel
        for rank, maturity in enumerate(MATURITIES)
        for kind in options.kinds
        for channel in _channels(rank, kind, releases[maturity])
    ]
    default = max(made, key=lambda channel: channel.stability(options.preferred))
    bundles = list(rendered.values())
    described = next(bundle for bundle in bundles if bundle.name == default.entries[-1]["name"])
    return [
        _package_record(package, default.name, described),
        *(_channel_record(package, channel) for channel in made),
        *bundles,
    ]


def _options(template: Mapping[str, Any]) -> Options:
    major = _flag(template, "generateMajorChannels")
    minor = _flag(template, "generateMinorChannels") or not major
    preferred = template.get("defaultchanneltypepreference") or ""
    if preferred not in {"", MAJOR, MINOR}:
        raise TemplateError(
            f"unknown defaultChannelTypePreference {preferred!r}", hint="major or minor"
        )
    if (preferred == MAJOR and not major) or (preferred == MINOR and not minor):
        raise TemplateError(
            f"schema attribute mismatch: defaultChannelTypePreference is {quote(preferred)}, but "
            f"no {preferred} channels are generated"
        )
    kinds = tuple(kind for kind, enabled in ((MAJOR, major), (MINOR, minor)) if enabled)
    return Options(kinds, preferred or kinds[-1])


def _flag(template: Mapping[str, Any], name: str) -> bool:
    value = template.get(name.casefold()) or False
    if not isinstance(value, bool):
        raise TemplateError(f"{name}: expected a boolean, got {value!r}")
    return value


def _images(template: Mapping[str, Any], maturity: str) -> list[str]:
    listed = fields(template.get(maturity), maturity, {"bundles"}).get("bundles") or []
    if not isinstance(listed, list):
        raise TemplateError(f"{maturity}: expected a list of bundles, got {listed!r}")
    place = f"the bundles of {maturity}"
    images = [str(fields(item, place, {"image"}).get("image") or "") for item in listed]
    if not all(images):
        raise TemplateError(f"{maturity}: each bundle needs an image")
    return images


def _one_bundle(image: str, render: RenderBundle) -> Record:
    found = render(image)
    if len(found) != 1:
        message = f"bundle reference {quote(image)} resulted in {len(found)} bundles, expected 1"
        raise TemplateError(message)
    return found[0]


def _package_of(bundles: Sequence[Record]) -> str:
    package = bundles[0].package
    for bundle in bundles:
        if bundle.package != package:
            message = f"bundle {quote(bundle.name)} does not belong to package {quote(package)}"
            raise TemplateError(message)
    return package


def _releases(bundles: Sequence[Record]) -> list[Release]:
    """The bundles by version. Raises TemplateError where they cannot be ordered."""
    releases = sorted((_release(bundle) for bundle in bundles), key=lambda each: each.version.key)
    names: set[str] = set()
    for release in releases:
        if release.name in names:
            raise TemplateError(f"duplicate bundle name {quote(release.name)}")
        names.add(release.name)
    for before, after in pairwise(releases):
        if before.version.key == after.version.key:
            raise TemplateError(
                "encountered bundle versions which differ only by build metadata, which cannot be "
                f"ordered: {before.version} and {after.version}"
            )
    return releases


def _release(bundle: Record) -> Release:
    text = str(package_value(bundle).get("version"))
    try:
        return Release(bundle.name, parse_version(text))
    except VersionError as error:
        message = f"bundle {quote(bundle.name)} has an invalid version: {error.message}"
        raise TemplateError(message) from error


def _channels(rank: int, kind: str, releases: Sequence[Release]) -> Iterator[Made]:
    """The channels of one maturity and kind."""
    for _, same_major in groupby(releases, key=lambda each: each.version.major):
        entries = _linked(list(same_major))
        for name, members in groupby(entries, key=lambda pair: _name(rank, kind, pair[0].version)):
            own = list(members)
            yield Made(rank, kind, name, own[0][0].version, [entry for _, entry in own])


def _linked(releases: Sequence[Release]) -> Iterator[tuple[Release, dict[str, Any]]]:
    """Entries with their edges, for the releases of one major version in order."""
    before: list[str] = []
    replaced = ""
    for _, same_minor in groupby(releases, key=lambda each: each.version.minor):
        patches = list(same_minor)
        for release in patches:
            entry: dict[str, Any] = {"name": release.name}
            if release is patches[-1]:
                entry["replaces"] = replaced
                entry["skips"] = sorted(set(before) - {replaced})
            yield release, entry
            before.append(release.name)
        replaced = patches[-1].name


def _name(rank: int, kind: str, version: Version) -> str:
    minor = f".{version.minor}" if kind == MINOR else ""
    return f"{MATURITIES[rank]}-v{version.major}{minor}"


def _channel_record(package: str, made: Made) -> Record:
    value = {"schema": CHANNEL, "name": made.name, "package": package, "entries": made.entries}
    return Record(CHANNEL, package, made.name, read("Channel", value))


def _package_record(package: str, default: str, described: Record) -> Record:
    """The package, with description and icon of the bundle that leads its default channel."""
    spec = (embedded_csv(properties(described)) or {}).get("spec") or {}
    icons = spec.get("icon") or [None]
    value = {
        "schema": PACKAGE,
        "name": package,
        "defaultChannel": default,
        "icon": icons[0],
        "description": spec.get("description"),
    }
    return Record(PACKAGE, package, package, read("Package", value))
