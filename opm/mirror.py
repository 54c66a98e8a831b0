"""What a mirror of a catalog holds, where it goes, and what a cluster gets for it. Pure."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from api.objects import KubeObject
from api.olm.v1.kinds import CATALOG
from api.openshift.config.v1 import names as openshift
from olm_content import names
from olm_content.fbc.chain import ChainError, check_chain
from olm_content.fbc.records import Record, channel_of, package_value
from olm_content.names import BUNDLE, CHANNEL, PACKAGE
from olm_content.ranges import parse_extension_range
from olm_content.versions import parse_version
from olm_runtime.errors import TerminalError
from olm_runtime.images.reference import ImageRef, is_location
from olm_runtime.suggestions import suggestion_or_all

COSIGN_TAGS = (".sig", ".att", ".sbom")
"""What the tags of signatures, attestations and SBOMs end in that cosign makes."""
MAX_DEPTH = 4
"""Of what refers to what refers to an image; the signature of an SBOM of an image is the second."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A package, the channels of it, and a range of versions; without any all of them."""

    package: str
    channels: tuple[str, ...] = ()
    versions: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether all of the package is wanted."""
        return not (self.channels or self.versions)


def parse_wanted(text: str) -> Wanted:
    """Reads `PACKAGE[:CHANNEL[,CHANNEL]...][@RANGE]`. Raises TerminalError, RangeError."""
    named, at, versions = text.partition("@")
    package, colon, channels = named.partition(":")
    channel_names = tuple(name.strip() for name in channels.split(",")) if colon else ()
    if not package or "" in channel_names or (at and not versions.strip()):
        raise TerminalError(
            f'"{text}" names no package',
            hint="write PACKAGE, PACKAGE:CHANNEL,CHANNEL or PACKAGE@RANGE",
        )
    if at:
        parse_extension_range(versions)
    return Wanted(package, channel_names, versions.strip())


def chosen(records: Sequence[Record], wanted: Collection[Wanted]) -> list[Record]:
    """The records of the packages, channels and versions that are wanted; all without any.

    A package without its default channel gets the one channel that is left as its default.
    Raises TerminalError for what the catalog has not, where the default is not clear, and where
    versions leave a gap between updates.
    """
    if not wanted:
        return list(records)
    packages = {each.package for each in records if each.schema == PACKAGE}
    found: list[Record] = []
    for one in wanted:
        if one.package not in packages:
            hint = suggestion_or_all(one.package, packages, none="it has no packages")
            raise TerminalError(f'the catalog has no package "{one.package}"', hint=hint)
        of_package = [each for each in records if each.package == one.package]
        found += of_package if one.is_whole else _part(of_package, one)
    return found


def _part(records: Sequence[Record], wanted: Wanted) -> Iterator[Record]:
    channels = _channels(records, wanted)
    bundles = {entry["name"] for each in channels.values() for entry in each.value["entries"]}
    for each in records:
        match each.schema:
            case names.PACKAGE:
                yield _with_default(each, wanted.package, tuple(channels))
            case names.CHANNEL if each.name in channels:
                yield channels[each.name]
            case names.BUNDLE if each.name in bundles:
                yield each
            case names.DEPRECATIONS:
                yield from _deprecations(each, channels, bundles)


def _channels(records: Sequence[Record], wanted: Wanted) -> dict[str, Record]:
    """The channels that are wanted, with the entries that are."""
    channels = {each.name: each for each in records if each.schema == CHANNEL}
    for name in wanted.channels:
        if name not in channels:
            hint = suggestion_or_all(name, channels, none="it has no channels")
            message = f'package "{wanted.package}" has no channel "{name}"'
            raise TerminalError(message, hint=hint)
    found = {name: channels[name] for name in wanted.channels or channels}
    if not wanted.versions:
        return found
    inside = _names_within(records, wanted.versions)
    cut = {name: _cut(each, inside) for name, each in found.items()}
    left = {name: each for name, each in cut.items() if each.value["entries"]}
    if not left:
        raise TerminalError(
            f'package "{wanted.package}" has no version in {wanted.versions}',
            hint=f"opm alpha list bundles CATALOG {wanted.package} tells which it has",
        )
    for name, each in left.items():
        try:
            check_chain(channel_of(each))
        except ChainError as error:
            raise TerminalError(
                f'channel "{name}" of package "{wanted.package}" is no path of updates with the '
                f"versions {wanted.versions} alone: {error}",
                hint="choose a range that leaves out none in between",
            ) from error
    return left


def _names_within(records: Iterable[Record], versions: str) -> set[str]:
    """The bundles whose version is in a range, prereleases of it included."""
    wanted = parse_extension_range(versions)
    return {
        each.name
        for each in records
        if each.schema == BUNDLE
        and wanted.matches(parse_version(package_value(each)["version"]), any_prerelease=True)
    }


def _cut(channel: Record, bundles: Collection[str]) -> Record:
    entries = [entry for entry in channel.value["entries"] if entry["name"] in bundles]
    return replace(channel, value={**channel.value, "entries": entries})


def _with_default(package: Record, name: str, channels: Sequence[str]) -> Record:
    default = package.value.get("defaultChannel")
    if default in channels:
        return package
    if len(channels) > 1:
        raise TerminalError(
            f'"{default}", the default channel of package "{name}", is not among those'
            " to be mirrored",
            hint=f"name it as well: --package {name}:{','.join((*channels, str(default)))}",
        )
    return replace(package, value={**package.value, "defaultChannel": channels[0]})


def _deprecations(
    record: Record, channels: Collection[str], bundles: Collection[str]
) -> Iterator[Record]:
    """Those of what is left; a record without any is none."""
    remaining = {CHANNEL: set(channels), BUNDLE: set(bundles)}
    entries = [
        entry
        for entry in record.value.get("entries") or ()
        if entry["reference"]["schema"] == PACKAGE
        or entry["reference"].get("name") in remaining.get(entry["reference"]["schema"], ())
    ]
    if entries:
        yield replace(record, value={**record.value, "entries": entries})


def images_of(records: Iterable[Record]) -> list[str]:
    """The references of all bundles and of the images that they name, each once."""
    found: dict[str, None] = {}
    for each in records:
        if each.schema == BUNDLE:
            related = (image.get("image") for image in each.value.get("relatedImages") or ())
            found |= dict.fromkeys(text for text in (each.value.get("image"), *related) if text)
    return list(found)


@dataclass(frozen=True, slots=True)
class Target:
    """A registry, and the path below which everything goes."""

    registry: str
    path: str = ""

    def place_of(self, ref: ImageRef) -> ImageRef:
        """Where an image goes: the same repository below the path, the same tag.

        One that is named by digest alone gets a tag made of it, because registries may remove what
        has none.
        """
        repository = f"{self.path}/{ref.repository}" if self.path else ref.repository
        tag = ref.tag or f"mirror-{ref.digest.partition(':')[2][:16]}"
        return ImageRef(self.registry, repository, tag)


Subject = tuple[ImageRef, str]
"""What something may refer to: a reference in its repository, and its digest."""


def attachments_of(subjects: Iterable[Subject]) -> dict[ImageRef, str]:
    """Where what refers to images is, if there is any.

    Names with, of lists of referrers, the digest of the image that they are about. cosign makes a
    tag of the digest, and so does OCI for a list that a registry does not keep itself.
    """
    found: dict[ImageRef, str] = {}
    for ref, digest in subjects:
        tag = digest.replace(":", "-", 1)
        found[ImageRef(ref.registry, ref.repository, tag)] = digest
        for ending in COSIGN_TAGS:
            found[ImageRef(ref.registry, ref.repository, tag + ending)] = ""
    return found


class Subjects:
    """What has been looked at for something that refers to it. A list may name what lists it."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, str]] = set()
        self._depth = 0

    def new(self, subjects: Iterable[Subject]) -> list[Subject]:
        """Those of the next depth, each once; none below MAX_DEPTH."""
        self._depth += 1
        found: list[Subject] = []
        for ref, digest in subjects if self._depth <= MAX_DEPTH else ():
            if (ref.name, digest) not in self._seen:
                self._seen.add((ref.name, digest))
                found.append((ref, digest))
        return found


def parse_target(text: str) -> Target:
    """Reads `REGISTRY[/PATH]`. Raises TerminalError."""
    registry, _, path = text.partition("/")
    if not is_location(text) or not ("." in registry or ":" in registry or registry == "localhost"):
        raise TerminalError(
            f'"{text}" is no place in a registry',
            hint="write mirror.example.org or mirror.example.org/path, or oci:FOLDER for a disk",
        )
    return Target(registry, path)


def registries_conf(places: Iterable[tuple[ImageRef, ImageRef]]) -> str:
    """A registries.conf that has images asked of their mirrors first, by repository."""
    repositories = sorted({(source.name, mirror.name) for source, mirror in places})
    return "\n".join(
        f'[[registry]]\nlocation = "{source}"\n\n[[registry.mirror]]\nlocation = "{mirror}"\n'
        for source, mirror in repositories
    )


def mirror_sets(name: str, places: Sequence[tuple[ImageRef, ImageRef]]) -> list[KubeObject]:
    """The same for OpenShift: images by digest, and by tag if there are any."""
    by_digest = [(source, mirror) for source, mirror in places if source.digest]
    by_tag = [(source, mirror) for source, mirror in places if not source.digest]
    return [
        *_mirror_set(name, "ImageDigestMirrorSet", "imageDigestMirrors", by_digest),
        *_mirror_set(name, "ImageTagMirrorSet", "imageTagMirrors", by_tag),
    ]


def _mirror_set(
    name: str, kind: str, field: str, places: Sequence[tuple[ImageRef, ImageRef]]
) -> Iterator[KubeObject]:
    repositories = sorted({(source.name, mirror.name) for source, mirror in places})
    if repositories:
        yield {
            "apiVersion": openshift.API_VERSION,
            "kind": kind,
            "metadata": {"name": name},
            "spec": {field: [{"source": s, "mirrors": [m]} for s, m in repositories]},
        }


def cluster_catalog(name: str, image: ImageRef) -> dict[str, Any]:
    """The ClusterCatalog that has a cluster use the mirrored catalog."""
    return {
        "apiVersion": CATALOG.api_version,
        "kind": CATALOG.kind,
        "metadata": {"name": name},
        "spec": {
            "source": {
                "type": "Image",
                "image": {"ref": f"{image.name}:{image.tag}", "pollIntervalMinutes": 10},
            }
        },
    }
