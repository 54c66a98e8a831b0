"""Suggested changes of the spec, as text."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from olm_runtime.errors import bounded
from operator_controller.resolve.change import Change, Field, NoChange
from operator_controller.resolve.change_search import find_change
from operator_controller.resolve.errors import ResolutionError
from operator_controller.resolve.explain import summary
from operator_controller.resolve.findings import Findings
from operator_controller.resolve.request import CatalogContent, Request

MAX_SHORT_FORM = 600
"""Characters of a suggestion in a condition."""


def sentence(advice: Change | NoChange) -> str:
    """The change and the bundle it gives, or why no change helps; without a full stop."""
    if isinstance(advice, NoChange):
        return _NO_CHANGE[advice]
    edits = " and ".join(_edit(advice, field) for field in advice.fields)
    risk = _RISK if Field.POLICY in advice.fields else ""
    return f"{edits} to get {advice.bundle} from catalog {advice.catalog}{risk}"


def short_form(findings: Findings, advice: Change | NoChange | None) -> str:
    """A summary of the findings and the suggested change, bounded for a condition."""
    parts = [summary(findings)] if findings.causes else []
    if advice is not None:
        parts.append(sentence(advice))
    return bounded("; ".join(parts), MAX_SHORT_FORM)


def explained(
    error: ResolutionError, request: Request, catalogs: Sequence[CatalogContent]
) -> ResolutionError:
    """The same error with the short form appended to its hint."""
    more = short_form(error.findings, find_change(request, catalogs))
    return ResolutionError(
        error.message, error.findings, hint="; ".join(filter(None, (error.hint, more)))
    )


def _edit(change: Change, field: Field) -> str:
    path = f"spec.source.catalog.{field.value}"
    after = change.after
    match field:
        case Field.VERSION:
            return f'set {path} to "{after.version}"'
        case Field.CHANNELS if after.channels:
            return f"add {after.channels[-1]} to {path}"
        case Field.CHANNELS:
            return f"remove {path}"
        case Field.SELECTOR:
            ((label, value),) = after.selector.match_labels.items()
            return f"set {path} to matchLabels {label}: {value}"
        case Field.POLICY:
            return f"set {path} to {after.upgrade_constraint_policy.value}"


_RISK = ", an update that its author does not offer: check first that data survives it"

_NO_CHANGE: Mapping[NoChange, str] = MappingProxyType(
    {
        NoChange.NO_CATALOG: (
            "no change of spec.source.catalog helps: no catalog is switched on; create a "
            "ClusterCatalog, or set spec.availabilityMode of one to Available"
        ),
        NoChange.PACKAGE_ABSENT: (
            "no change of spec.source.catalog helps: no catalog has the package; check "
            "packageName, or add a ClusterCatalog that has it"
        ),
        NoChange.CATALOG_UNAVAILABLE: (
            "no change of spec.source.catalog helps: what catalogs offer is not known; it is "
            "tried again until they serve"
        ),
        NoChange.NOT_INSTALLABLE: (
            "no change of spec.source.catalog helps: every bundle of the package has a dependency "
            "that is not supported or no version that can be read"
        ),
        NoChange.NOT_TOLD_APART: (
            "no change of spec.source.catalog alone helps: give the catalogs different "
            "spec.priority"
        ),
        NoChange.NOT_ALL_TRIED: (
            "no change of spec.source.catalog was found: the package has too many bundles to try "
            "all that are possible"
        ),
    }
)
