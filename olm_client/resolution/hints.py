"""Hints where no bundle can be chosen: which given name is unknown, and what exists. Pure."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from api.olm.v1 import names
from api.olm.v1.clusterextension import CatalogFilter
from olm_content.fbc.model import Package
from olm_runtime.suggestions import suggestion_or_all
from operator_controller.resolve import CatalogContent, Reason, ResolutionError

VERSIONS_SHOWN = 10

NearPackages = Callable[[], str]
"""Suggests packages of similar names; may read whole catalogs. Empty if there is none."""


def hint_text(
    error: ResolutionError,
    desired: CatalogFilter,
    offered: Sequence[CatalogContent],
    *,
    switched_off: Sequence[str] = (),
    near_packages: NearPackages,
) -> str:
    """The hints in one line, beginning with the error's own."""
    instead = hints(error, desired, offered, switched_off=switched_off, near_packages=near_packages)
    return "; ".join([*filter(None, [error.hint]), *instead])


def hints(
    error: ResolutionError,
    desired: CatalogFilter,
    offered: Sequence[CatalogContent],
    *,
    switched_off: Sequence[str] = (),
    near_packages: NearPackages,
) -> Iterator[str]:
    """The hints one by one, without the error's own, beginning with the first unknown name."""
    passed_over = {
        cause.catalog
        for cause in error.findings.causes
        if cause.reason is Reason.CATALOG_NOT_SELECTED
    }
    selected = [content for content in offered if content.name not in passed_over]
    packages = [(each.name, each.package) for each in selected if each.package is not None]
    if not selected:
        yield _no_catalog(desired, [content.name for content in offered], switched_off)
    yield from _unread(selected, error.message)
    if packages:
        yield from _within(desired, packages)
    elif selected and not any(content.unavailable for content in selected):
        yield from _without_package(selected, switched_off, near_packages)


def _no_catalog(desired: CatalogFilter, known: Sequence[str], switched_off: Sequence[str]) -> str:
    """Why no catalog is selected: an unknown name, or none that matches."""
    named = desired.selector.match_labels.get(names.LABEL_METADATA_NAME, "")
    if named in switched_off:
        return _off(named)
    instead = suggestion_or_all(named, [*known, *switched_off], none="there is none")
    if named:
        return f'there is no catalog "{named}": {instead}'
    if known:
        return f"the selector means none of the catalogs: {instead}"
    none = "there is no catalog: olm catalog add NAME IMAGE adds one"
    return "; ".join(map(_off, switched_off)) or none


def _without_package(
    selected: Iterable[CatalogContent], switched_off: Iterable[str], near_packages: NearPackages
) -> Iterator[str]:
    if meant := near_packages():
        yield meant
        return
    yield from (f"catalog {content.name} has no package of that name" for content in selected)
    yield from map(_off, switched_off)
    yield "olm search WORDS finds packages"


def _off(catalog: str) -> str:
    return f"catalog {catalog} is switched off: olm catalog enable {catalog} takes it into use"


def _unread(selected: Iterable[CatalogContent], message: str) -> Iterator[str]:
    for fault in filter(None, (content.unavailable for content in selected)):
        if fault.message not in message:
            yield fault.message
        if fault.hint:
            yield fault.hint


def _within(desired: CatalogFilter, packages: Sequence[tuple[str, Package]]) -> Iterator[str]:
    """What the package has: channels, if one that is asked for is unknown; else versions."""
    unknown = unknown_channels(desired, [package for _, package in packages])
    yield from unknown
    if not unknown:
        yield from (f"catalog {name} has {_versions(package)}" for name, package in packages)


def unknown_channels(desired: CatalogFilter, packages: Iterable[Package]) -> list[str]:
    """A hint for each channel that is asked for and that none of the packages has."""
    known = [channel.name for package in packages for channel in package.channels]
    return [
        f'there is no channel "{name}": {suggestion_or_all(name, known, none="none")}'
        for name in desired.channels
        if name not in known
    ]


def _versions(package: Package) -> str:
    found = sorted(
        (b.version for b in package.bundles if b.version),
        key=lambda version: version.key,
        reverse=True,
    )
    more = ", ..." if len(found) > VERSIONS_SHOWN else ""
    return f"versions {', '.join(map(str, found[:VERSIONS_SHOWN]))}{more}"
