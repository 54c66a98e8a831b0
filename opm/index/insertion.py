"""The rows of a bundle in an SQLite index, and why bundles cannot be added. Pure.

Source: the schema of upstream's operator-registry at its migration 13, and what its tool writes.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from olm_content.bundle.files import BundleError
from olm_content.bundle.reader import Contents
from olm_content.fbc.shapes import ShapeError
from olm_content.formats import go_json
from olm_content.names import (
    ANNOTATION_SKIP_RANGE,
    ANNOTATION_SUBSTITUTES_FOR,
    DEPRECATED,
    GVK,
    PACKAGE,
)
from olm_runtime.errors import TerminalError
from opm.apis import Api, provided_apis, required_apis
from opm.bundle import declared, package_property, related_images
from opm.index.graph import Member, Update

Row = dict[str, Any]
"""Values by column."""


@dataclass(frozen=True, slots=True)
class Addition:
    """A bundle to be added, and the reference of its image."""

    image: str
    bundle: Contents

    @property
    def package(self) -> str:
        """The name of its package."""
        return self.bundle.metadata.package

    @property
    def member(self) -> Member:
        """What it is in the update graph."""
        spec, metadata = self.bundle.spec, self.bundle.metadata
        update = Update(str(spec.get("replaces") or ""), tuple(map(str, spec.get("skips") or ())))
        return Member(
            self.bundle.name,
            self.bundle.version,
            metadata.channels,
            metadata.default_channel,
            update,
        )


@dataclass(frozen=True, slots=True)
class Known:
    """What an index holds: images by the names of its bundles, and packages by names in channels.

    `updated` are the names of bundles that others update.
    """

    images: Mapping[str, str]
    packages: Mapping[str, str]
    updated: frozenset[str] = frozenset()


def overwritten(additions: Iterable[Addition], known: Known) -> frozenset[str]:
    """The bundles in whose place others of the same name come.

    Raises TerminalError for those that do not lead their channels, and for several of a package.
    """
    names: dict[str, str] = {}
    faults: list[str] = []
    for each in additions:
        name = each.bundle.name
        if name not in known.images:
            continue
        if not known.images[name]:
            faults.append(f"bundle {name} is from no image, and cannot be overwritten")
        if name in known.updated:
            faults.append(f"bundle {name} does not lead its channels, and cannot be overwritten")
        if names.setdefault(each.package, name) != name:
            faults.append(f"package {each.package}: only one bundle can be overwritten at a time")
    if faults:
        raise TerminalError("\n".join(faults))
    return frozenset(names.values())


def check_additions(
    additions: Iterable[Addition], known: Known, replaced: Collection[str] = ()
) -> None:
    """Raises TerminalError with every reason why bundles cannot be added.

    `replaced` are the names of those that may be there.
    """
    faults: list[str] = []
    homes: dict[str, str] = {}
    names: set[str] = set()
    for each in additions:
        if each.bundle.name in names:
            faults.append(f"bundle {each.bundle.name} is given twice")
        names.add(each.bundle.name)
        faults += _faults(each, known, replaced)
        for name in _neighbours(each):
            home = homes.setdefault(name, each.package)
            if home != each.package:
                both = sorted((home, each.package))
                faults.append(f"bundle {name} must belong to exactly one package, found on: {both}")
            held = known.packages.get(name, each.package)
            if held != each.package:
                faults.append(
                    f"bundle {name} belongs to package {held} on index, "
                    f"cannot be added as an edge for package {each.package}"
                )
    if faults:
        raise TerminalError("\n".join(dict.fromkeys(faults)))


def _neighbours(each: Addition) -> list[str]:
    member = each.member
    return [name for name in (member.name, member.update.replaces, *member.update.skips) if name]


def _faults(each: Addition, known: Known, replaced: Collection[str]) -> Iterator[str]:
    annotations = each.bundle.annotations
    if not each.package:
        yield f"bundle {each.image} names no package in its annotations"
    if not each.bundle.metadata.channels:
        yield f"bundle {each.image} names no channel in its annotations"
    if each.image in known.images.values():
        yield f"Bundle {each.image} already exists"
    elif each.bundle.name in known.images.keys() - set(replaced):
        yield f"Bundle already added that provides package and csv: {each.bundle.name}"
    if annotations.get(ANNOTATION_SUBSTITUTES_FOR):
        feature = f"{ANNOTATION_SUBSTITUTES_FOR} is an alpha feature, which is not here"
        yield f"bundle {each.bundle.name}: {feature}"


def rows(each: Addition, *, deprecated: bool) -> dict[str, list[Row]]:
    """The rows by table. Raises BundleError."""
    bundle, image = each.bundle, each.image
    texts = {id(found): go_json.dumps(found, sort_keys=True) + "\n" for found in bundle.objects}
    annotations = (bundle.csv.get("metadata") or {}).get("annotations") or {}
    member = each.member
    owner = {"operatorbundle_name": bundle.name}
    whose = {**owner, "operatorbundle_version": bundle.version, "operatorbundle_path": image}
    try:
        provided, required = list(provided_apis(bundle)), list(required_apis(bundle))
        images = {found["image"] for found in related_images(bundle.spec, image)}
        properties = dict.fromkeys(_properties(bundle, deprecated=deprecated))
        dependencies = dict.fromkeys(_dependencies(bundle))
    except ShapeError as error:
        raise BundleError(f'bundle "{bundle.name}": {error}') from error
    return {
        "operatorbundle": [
            {
                "name": bundle.name,
                "csv": texts[id(bundle.csv)].encode(),
                "bundle": "".join(texts.values()).encode(),
                "bundlepath": image,
                "version": bundle.version,
                "skiprange": str(annotations.get(ANNOTATION_SKIP_RANGE) or ""),
                "replaces": member.update.replaces,
                "skips": ",".join(member.update.skips),
                "substitutesfor": "",
            }
        ],
        "related_image": [{"image": name, **owner} for name in sorted(images) if name],
        "properties": [{"type": kind, "value": text, **whose} for kind, text in properties],
        "dependencies": [{"type": kind, "value": text, **whose} for kind, text in dependencies],
        "api": [{**_api(api), "plural": plural} for plural, api in (*provided, *required)],
        "api_provider": [{**_api(api), **whose} for api in {api: None for _, api in provided}],
        "api_requirer": [{**_api(api), **whose} for api in {api: None for _, api in required}],
    }


def _api(api: Api) -> Row:
    return {"group_name": api.group, "version": api.version, "kind": api.kind}


def _properties(bundle: Contents, *, deprecated: bool) -> Iterator[tuple[str, str]]:
    """Types and values as JSON: what is declared, and what is derived."""
    for item in declared(bundle):
        yield str(item.get("type") or ""), _text(item.get("value"))
    yield PACKAGE, _text(package_property(bundle))
    for _, api in provided_apis(bundle):
        yield GVK, _gvk(api)
    if deprecated:
        yield DEPRECATED, "{}"


def _dependencies(bundle: Contents) -> Iterator[tuple[str, str]]:
    for item in bundle.metadata.dependencies:
        yield str(item.get("type") or ""), _text(item.get("value"))
    for _, api in required_apis(bundle):
        yield GVK, _gvk(api)


def _gvk(api: Api) -> str:
    return _text({"group": api.group, "kind": api.kind, "version": api.version})


def _text(value: Any) -> str:
    return go_json.dumps(value, sort_keys=True)
