"""What keeps a bundle from being a candidate: one small rule each, asked in order."""

from collections.abc import Callable
from dataclasses import dataclass

from operator_controller.catalog import Bundle, Package
from operator_controller.resolve.criteria import Criteria
from operator_controller.resolve.findings import Cause, Edge, Reason
from operator_controller.resolve.request import CatalogContent
from operator_controller.resolve.successors import may_follow


@dataclass(frozen=True, slots=True)
class Offer:
    """A package of a catalog, with its channel entries found by bundle.

    `edges` are those in the channels that count, `channels` the names of all channels.
    """

    catalog: str
    priority: int
    package: Package
    edges: dict[str, tuple[Edge, ...]]
    channels: dict[str, tuple[str, ...]]
    deprecated: frozenset[str]


def make_offer(catalog: CatalogContent, package: Package, criteria: Criteria) -> Offer:
    """Reads the channels of the package once."""
    edges: dict[str, list[Edge]] = {}
    channels: dict[str, list[str]] = {}
    for channel in package.channels:
        counts = not criteria.channels or channel.name in criteria.channels
        for entry in channel.entries:
            channels.setdefault(entry.name, []).append(channel.name)
            if counts:
                edges.setdefault(entry.name, []).append(Edge(channel.name, entry))
    return Offer(
        catalog=catalog.name,
        priority=catalog.priority,
        package=package,
        edges={name: tuple(found) for name, found in edges.items()},
        channels={name: tuple(found) for name, found in channels.items()},
        deprecated=package.deprecated_bundles,
    )


Rule = Callable[[Bundle, Offer, Criteria], Cause | None]


def in_channel(bundle: Bundle, offer: Offer, criteria: Criteria) -> Cause | None:
    """If channels are asked for, the bundle is an entry of one of them."""
    if not criteria.channels or bundle.name in offer.edges:
        return None
    return Cause(
        catalog=offer.catalog,
        reason=Reason.NOT_IN_CHANNEL,
        bundle=bundle.name,
        version=written(bundle),
        channels=offer.channels.get(bundle.name, ()),
    )


def in_range(bundle: Bundle, offer: Offer, criteria: Criteria) -> Cause | None:
    """If a range is asked for, the version is in it; the release does not count."""
    if criteria.range is None:
        return None
    if bundle.version is None:
        return _unreadable(bundle, offer)
    version = bundle.version.version
    if criteria.range.matches(version):
        return None
    hidden = bool(version.prerelease) and criteria.range.matches(version, any_prerelease=True)
    return Cause(
        catalog=offer.catalog,
        reason=Reason.PRERELEASE_EXCLUDED if hidden else Reason.OUT_OF_RANGE,
        bundle=bundle.name,
        version=written(bundle),
    )


def is_successor(bundle: Bundle, offer: Offer, criteria: Criteria) -> Cause | None:
    """If a bundle is installed and the catalog's word counts, it may follow that bundle."""
    if criteria.installed is None:
        return None
    if bundle.version is None:
        return _unreadable(bundle, offer)
    edges = offer.edges.get(bundle.name, ())
    if may_follow(bundle, (edge.entry for edge in edges), criteria.installed):
        return None
    return Cause(
        catalog=offer.catalog,
        reason=Reason.NOT_A_SUCCESSOR,
        bundle=bundle.name,
        version=written(bundle),
        edges=edges,
    )


RULES: tuple[Rule, ...] = (in_channel, in_range, is_successor)


def _unreadable(bundle: Bundle, offer: Offer) -> Cause:
    return Cause(
        catalog=offer.catalog,
        reason=Reason.VERSION_UNREADABLE,
        bundle=bundle.name,
        detail=bundle.version_fault,
    )


def written(bundle: Bundle) -> str:
    """The version of a bundle for people; empty where there is none."""
    return str(bundle.version) if bundle.version else ""
