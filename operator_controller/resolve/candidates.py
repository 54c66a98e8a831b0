"""The candidates of one catalog, the best of them, and why the other bundles are none."""

from collections.abc import Sequence
from typing import NamedTuple

from olm_content.fbc.model import Bundle, read_skip_range
from olm_content.ranges import RangeError
from operator_controller.resolve.criteria import Criteria
from operator_controller.resolve.findings import Cause, Note, NoteKind, Reason, Rival
from operator_controller.resolve.rules import RULES, Offer, written


class Finalist(NamedTuple):
    """The best candidate of a catalog."""

    offer: Offer
    bundle: Bundle

    @property
    def deprecated(self) -> bool:
        """Whether the bundle itself is deprecated."""
        return self.bundle.name in self.offer.package.deprecated_bundles

    @property
    def rival(self) -> Rival:
        """How the causes of other bundles refer to it."""
        return Rival(self.offer.catalog, self.bundle.name, written(self.bundle))

    def cause(self, reason: Reason, *, rival: Rival | None = None, detail: str = "") -> Cause:
        """Its own cause."""
        return Cause(
            catalog=self.offer.catalog,
            reason=reason,
            bundle=self.bundle.name,
            version=written(self.bundle),
            rival=rival,
            detail=detail,
        )


class Evaluation(NamedTuple):
    """The result for one catalog: its best candidate, and one cause for each other bundle."""

    causes: tuple[Cause, ...]
    notes: tuple[Note, ...]
    finalist: Finalist | None


def evaluate(offer: Offer, criteria: Criteria) -> Evaluation:
    """Applies the rules to every bundle of the offer."""
    causes: list[Cause] = []
    candidates: list[Bundle] = []
    for bundle in offer.package.bundles:
        cause = next(filter(None, (rule(bundle, offer, criteria) for rule in RULES)), None)
        if cause:
            causes.append(cause)
        else:
            candidates.append(bundle)
    finalist = None
    if candidates:
        best, *others = _ranked(candidates, offer)
        finalist = Finalist(offer, best)
        causes.extend(_behind(bundle, finalist) for bundle in others)
    return Evaluation(tuple(causes), _unreadable_skip_ranges(offer, criteria), finalist)


def _ranked(candidates: Sequence[Bundle], offer: Offer) -> list[Bundle]:
    """Not deprecated first, then highest version and release; unreadable last, ties as found."""

    def rank(bundle: Bundle) -> tuple[bool, bool, object]:
        readable = bundle.version is not None
        key = bundle.version.key if bundle.version else ()
        return bundle.name not in offer.package.deprecated_bundles, readable, key

    return sorted(candidates, key=rank, reverse=True)


def _behind(bundle: Bundle, best: Finalist) -> Cause:
    if bundle.name in best.offer.package.deprecated_bundles and not best.deprecated:
        reason = Reason.DEPRECATED_BEHIND
    else:
        reason = Reason.LOWER_VERSION if bundle.version else Reason.VERSION_UNREADABLE
    return Finalist(best.offer, bundle).cause(reason, rival=best.rival, detail=bundle.version_fault)


def _unreadable_skip_ranges(offer: Offer, criteria: Criteria) -> tuple[Note, ...]:
    """Skip ranges that cannot be parsed, and so are no edges, where edges count."""
    if criteria.installed is None:
        return ()
    return tuple(
        Note(
            kind=NoteKind.UNREADABLE_SKIP_RANGE,
            catalog=offer.catalog,
            bundle=name,
            channel=edge.channel,
            detail=fault.message,
        )
        for name in offer.package.edges
        for edge in offer.edges(name, criteria)
        if edge.entry.skip_range
        and isinstance(fault := read_skip_range(edge.entry.skip_range), RangeError)
    )
