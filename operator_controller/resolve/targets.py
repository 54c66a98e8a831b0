"""The bundles that a change of the spec could come to, and which fields matter for each."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from api.olm.v1.clusterextension import CatalogFilter, UpgradeConstraintPolicy
from api.olm.v1.common import LabelSelector
from olm_content.ranges import ExtensionRange, RangeError, parse_extension_range
from olm_content.selectors import SelectorError, check, selects
from operator_controller.catalog import Bundle, Package, VersionError
from operator_controller.resolve.change import Field, is_channel, is_range, named
from operator_controller.resolve.request import CatalogContent, Request
from operator_controller.resolve.successors import Installed, may_follow, read_installed


@dataclass(frozen=True, slots=True)
class Target:
    """A bundle that could be installed.

    needed  the fields without whose change it is not chosen
    useful  the fields whose change can make a difference
    """

    catalog: CatalogContent
    package: Package
    bundle: Bundle
    needed: frozenset[Field]
    useful: frozenset[Field]

    @property
    def rank(self) -> tuple[bool, object]:
        """Higher is better: not deprecated, then by version."""
        key = self.bundle.version.key if self.bundle.version else ()
        return self.bundle.name not in self.package.deprecated_bundles, key


@dataclass(frozen=True, slots=True)
class _Wish:
    """A request as far as it can be read; None where a text says nothing."""

    range: ExtensionRange | None
    selector: LabelSelector | None
    installed: Installed | None


def pin(bundle: Bundle) -> str:
    """The range that only this version is in; releases do not count in ranges."""
    return str(bundle.version.version) if bundle.version else ""


def targets_of(request: Request, catalogs: Sequence[CatalogContent]) -> list[Target]:
    """The bundles that could be installed at all, the best first."""
    wish = _read(request)
    targets = []
    for catalog in catalogs:
        if catalog.package is None or catalog.unavailable:
            continue
        for bundle in catalog.package.bundles:
            if bundle.version is None or bundle.dependencies:
                continue
            bare = Target(catalog, catalog.package, bundle, frozenset(), frozenset())
            needed = frozenset(_needed(request, wish, bare))
            targets.append(replace(bare, needed=needed, useful=_useful(request, bare)))
    targets.sort(key=lambda target: (-target.catalog.priority, target.catalog.name))
    return sorted(targets, key=lambda target: target.rank, reverse=True)


def _read(request: Request) -> _Wish:
    """The faults themselves are told by `resolve`; here they are only something to change."""
    wanted = request.wanted
    versions, selector, installed = None, None, None
    with suppress(RangeError):
        versions = parse_extension_range(wanted.version) if wanted.version else None
    with suppress(SelectorError):
        check(wanted.selector)
        selector = wanted.selector
    with suppress(VersionError):
        installed = read_installed(request.installed) if request.installed else None
    return _Wish(versions, selector, installed)


def _needed(request: Request, wish: _Wish, target: Target) -> Iterator[Field]:
    """The fields that keep the bundle from being a candidate whatever else is changed."""
    wanted, bundle = request.wanted, target.bundle
    edges = target.package.edges.get(bundle.name, ())
    if wanted.version and not _in_range(bundle, wish):
        yield Field.VERSION
    if wanted.channels and not any(edge.channel in wanted.channels for edge in edges):
        yield Field.CHANNELS
    if wish.selector is None or not selects(wish.selector, target.catalog.labels):
        yield Field.SELECTOR
    free = wanted.upgrade_constraint_policy == UpgradeConstraintPolicy.SELF_CERTIFIED
    if request.installed and not free:
        entries = (edge.entry for edge in edges)
        if wish.installed is None or not may_follow(bundle, entries, wish.installed):
            yield Field.POLICY


def _in_range(bundle: Bundle, wish: _Wish) -> bool:
    if wish.range is None or bundle.version is None:
        return False
    return wish.range.matches(bundle.version.version)


def _useful(request: Request, target: Target) -> frozenset[Field]:
    """The fields that can be changed for the sake of the bundle, to an effect."""
    wanted = request.wanted
    free = wanted.upgrade_constraint_policy == UpgradeConstraintPolicy.SELF_CERTIFIED
    useful = {
        Field.VERSION: is_range(pin(target.bundle)),
        Field.CHANNELS: bool(more_channels(wanted, target)),
        Field.SELECTOR: named(target.catalog.name).items() <= target.catalog.labels.items(),
        Field.POLICY: request.installed is not None and not free,
    }
    return frozenset(field for field, is_useful in useful.items() if is_useful)


def more_channels(wanted: CatalogFilter, target: Target) -> list[tuple[str, ...]]:
    """One channel more, the default channel first.

    None at all where no channel with the bundle can be named: it is in none, or the API server
    does not take their names.
    """
    if not wanted.channels:
        return []
    present = {edge.channel for edge in target.package.edges.get(target.bundle.name, ())}
    others = present - set(wanted.channels)
    if present and not others:
        return []
    default = target.package.default_channel
    named_ones = sorted(filter(is_channel, others), key=lambda name: (name != default, name))
    return [(*wanted.channels, channel) for channel in named_ones] or [()]
