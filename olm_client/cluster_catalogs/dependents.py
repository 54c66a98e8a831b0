"""Which extensions have a package of a catalog, and where else they would find it. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from api.objects import KubeObject, metadata, name_of
from api.olm.v1.clusterextension import ClusterExtension
from api.wire import InvalidObjectError
from olm_client.lifecycle.overview import installed_bundle
from olm_content.selectors import selects


@dataclass(frozen=True, slots=True)
class Offered:
    """A catalog that is in use, and its packages; None where they are not known."""

    raw: KubeObject
    packages: frozenset[str] | None

    def may_serve(self, extension: ClusterExtension) -> bool:
        """Whether the extension looks into it and finds its package, as far as that is known."""
        source = extension.spec.source.catalog
        labels = metadata(self.raw).get("labels") or {}
        has = self.packages is None or source.package_name in self.packages
        return has and selects(source.selector, labels)


@dataclass(frozen=True, slots=True)
class Dependent:
    """An extension whose package a catalog has. `others` are catalogs that have it, too."""

    extension: str
    package: str
    version: str
    others: Sequence[str]


def dependents(
    catalog: Offered, others: Sequence[Offered], extensions: Iterable[KubeObject]
) -> list[Dependent]:
    """The extensions that have a package of the catalog; those that cannot be read have none."""
    return [
        Dependent(
            extension=name_of(raw),
            package=extension.spec.source.catalog.package_name,
            version=str(installed_bundle(raw).get("version", "")),
            others=[
                name_of(other.raw)
                for other in others
                if other.packages is not None and other.may_serve(extension)
            ],
        )
        for raw in extensions
        if (extension := _read(raw)) is not None and catalog.may_serve(extension)
    ]


def _read(raw: KubeObject) -> ClusterExtension | None:
    try:
        return ClusterExtension.from_object(raw)
    except InvalidObjectError:
        return None


def dependent_facts(found: Iterable[Dependent]) -> list[dict[str, Any]]:
    """As data."""
    return [
        {
            "extension": each.extension,
            "package": each.package,
            "version": each.version,
            "otherCatalogs": list(each.others),
        }
        for each in found
    ]


def dependent_lines(found: Sequence[Dependent]) -> Iterator[str]:
    """As text: those first that would find no updates."""
    stranded = [each for each in found if not each.others]
    if stranded:
        yield "without it these extensions would find no updates; what is installed stays:"
        yield from (f"  {_text(each)}" for each in stranded)
    elsewhere = [each for each in found if each.others]
    if elsewhere:
        yield "these would find theirs in other catalogs:"
        yield from (f"  {_text(each)}, in {', '.join(each.others)}" for each in elsewhere)
    if not found:
        yield "no extension has a package of it"


def _text(each: Dependent) -> str:
    version = each.version or "not installed yet"
    return f"{each.extension} ({each.package} {version})"
