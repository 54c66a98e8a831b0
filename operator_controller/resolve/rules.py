"""The rules that exclude a bundle, in the order in which they are applied."""

from collections.abc import Callable
from typing import NamedTuple

from olm_content.fbc.model import Bundle, Edge, Package
from operator_controller.resolve.criteria import Criteria
from operator_controller.resolve.findings import Cause, Reason
from operator_controller.resolve.successors import may_follow


class Offer(NamedTuple):
    """A package in a catalog."""

    catalog: str
    priority: int
    package: Package

    def channels(self, bundle: str) -> tuple[str, ...]:
        """The names of all channels that the bundle is in."""
        return tuple(edge.channel for edge in self.package.edges.get(bundle, ()))

    def edges(self, bundle: str, criteria: Criteria) -> tuple[Edge, ...]:
        """The entries of the bundle in the channels that count."""
        edges = self.package.edges.get(bundle, ())
        if not criteria.channels:
            return edges
        return tuple(edge for edge in edges if edge.channel in criteria.channels)


Rule = Callable[[Bundle, Offer, Criteria], Cause | None]


def in_channel(bundle: Bundle, offer: Offer, criteria: Criteria) -> Cause | None:
    """If channels are asked for, the bundle is an entry of one of them."""
    if not criteria.channels or offer.edges(bundle.name, criteria):
        return None
    return Cause(
        catalog=offer.catalog,
        reason=Reason.NOT_IN_CHANNEL,
        bundle=bundle.name,
        version=written(bundle),
        channels=offer.channels(bundle.name),
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
    """If a bundle is installed and the policy is CatalogProvided, an edge leads from it."""
    if criteria.installed is None:
        return None
    if bundle.version is None:
        return _unreadable(bundle, offer)
    edges = offer.edges(bundle.name, criteria)
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
    """The version of a bundle as text; empty where there is none."""
    return str(bundle.version) if bundle.version else ""
