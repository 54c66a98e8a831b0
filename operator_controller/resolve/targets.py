"""The bundles that a change of the spec could select, and the fields that matter for each."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from api.metadata import LabelSelector
from api.olm.v1.clusterextension import CatalogFilter, UpgradeConstraintPolicy
from olm_content.fbc.model import Bundle, Package
from olm_content.ranges import ExtensionRange, RangeError, parse_extension_range
from olm_content.selectors import SelectorError, check, selects
from olm_content.versions import VersionError
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
class _ParsedRequest:
    """The parsed fields of a request; None where a field is empty or invalid."""

    range: ExtensionRange | None
    selector: LabelSelector | None
    installed: Installed | None


def pin(bundle: Bundle) -> str:
    """The range that only this version is in; releases do not count in ranges."""
    return str(bundle.version.version) if bundle.version else ""


def targets_of(request: Request, catalogs: Sequence[CatalogContent]) -> list[Target]:
    """The bundles that could be installed at all, the best first."""
    parsed = _read(request)
    targets = []
    for catalog in catalogs:
        if catalog.package is None or catalog.unavailable:
            continue
        for bundle in catalog.package.bundles:
            if bundle.version is None or bundle.dependencies:
                continue
            bare = Target(catalog, catalog.package, bundle, frozenset(), frozenset())
            needed = frozenset(_needed(request, parsed, bare))
            targets.append(replace(bare, needed=needed, useful=_useful(request, bare)))
    targets.sort(key=lambda target: (-target.catalog.priority, target.catalog.name))
    return sorted(targets, key=lambda target: target.rank, reverse=True)


def _read(request: Request) -> _ParsedRequest:
    """Invalid fields are ignored here; `resolve` raises their errors."""
    desired = request.desired
    versions, selector, installed = None, None, None
    with suppress(RangeError):
        versions = parse_extension_range(desired.version) if desired.version else None
    with suppress(SelectorError):
        check(desired.selector)
        selector = desired.selector
    with suppress(VersionError):
        installed = read_installed(request.installed) if request.installed else None
    return _ParsedRequest(versions, selector, installed)


def _needed(request: Request, parsed: _ParsedRequest, target: Target) -> Iterator[Field]:
    """The fields that exclude the bundle whatever else is changed."""
    desired, bundle = request.desired, target.bundle
    edges = target.package.edges.get(bundle.name, ())
    if desired.version and not _in_range(bundle, parsed):
        yield Field.VERSION
    if desired.channels and not any(edge.channel in desired.channels for edge in edges):
        yield Field.CHANNELS
    if parsed.selector is None or not selects(parsed.selector, target.catalog.labels):
        yield Field.SELECTOR
    free = desired.upgrade_constraint_policy == UpgradeConstraintPolicy.SELF_CERTIFIED
    if request.installed and not free:
        entries = (edge.entry for edge in edges)
        if parsed.installed is None or not may_follow(bundle, entries, parsed.installed):
            yield Field.POLICY


def _in_range(bundle: Bundle, parsed: _ParsedRequest) -> bool:
    if parsed.range is None or bundle.version is None:
        return False
    return parsed.range.matches(bundle.version.version)


def _useful(request: Request, target: Target) -> frozenset[Field]:
    """The fields whose change can help to select the bundle."""
    desired = request.desired
    free = desired.upgrade_constraint_policy == UpgradeConstraintPolicy.SELF_CERTIFIED
    useful = {
        Field.VERSION: is_range(pin(target.bundle)),
        Field.CHANNELS: bool(more_channels(desired, target)),
        Field.SELECTOR: named(target.catalog.name).items() <= target.catalog.labels.items(),
        Field.POLICY: request.installed is not None and not free,
    }
    return frozenset(field for field, is_useful in useful.items() if is_useful)


def more_channels(desired: CatalogFilter, target: Target) -> list[tuple[str, ...]]:
    """One channel more, the default channel first.

    None at all where no channel with the bundle can be named: it is in none, or the API server
    does not take their names.
    """
    if not desired.channels:
        return []
    present = {edge.channel for edge in target.package.edges.get(target.bundle.name, ())}
    others = present - set(desired.channels)
    if present and not others:
        return []
    default = target.package.default_channel
    named_ones = sorted(filter(is_channel, others), key=lambda name: (name != default, name))
    return [(*desired.channels, channel) for channel in named_ones] or [()]
