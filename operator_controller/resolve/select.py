"""The choice of a bundle.

Flow: the catalogs that are selected and known -> the best candidate of each (`evaluate`) -> the
best of those -> the checks a chosen bundle must pass. Each step leaves causes.

A catalog whose content is not known is *needed* when the others offer no bundle: then the request
fails, naming it. When another catalog offers one, the choice is made without it, and a note says
that the view was incomplete: a catalog that does not serve must not block extensions from others.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from olm_content.fbc.model import Deprecation
from olm_content.selectors import selects
from olm_content.versions import BundleVersion
from operator_controller.resolve import messages
from operator_controller.resolve.candidates import Finalist, evaluate
from operator_controller.resolve.criteria import read_criteria, with_installed
from operator_controller.resolve.errors import ResolutionError
from operator_controller.resolve.findings import Cause, Findings, Note, NoteKind, Reason
from operator_controller.resolve.request import CatalogContent, Request
from operator_controller.resolve.rules import Offer


class Resolution(NamedTuple):
    """The chosen bundle, its catalog with its deprecations, and the findings."""

    package: str
    bundle: str
    image: str
    version: BundleVersion
    catalog: str
    deprecations: tuple[Deprecation, ...] = ()
    findings: Findings = Findings()


def resolve(request: Request, catalogs: Sequence[CatalogContent]) -> Resolution:
    """The bundle that a request comes to. Raises ResolutionError.

    Within a catalog bundles that are not deprecated go first, then the highest version and
    release. Between catalogs those not deprecated go first, then the highest priority; several
    of the highest are ambiguous. The order of `catalogs` does not matter.
    """
    criteria = read_criteria(request)
    excluded = [cause for catalog in catalogs if (cause := _excluded(catalog, request))]
    considered = {catalog.name for catalog in catalogs} - {cause.catalog for cause in excluded}
    if considered:
        criteria = with_installed(criteria, request)
    evaluations = [
        evaluate(Offer(catalog.name, catalog.priority, catalog.package), criteria)
        for catalog in catalogs
        if catalog.name in considered and catalog.package
    ]
    left, beaten = _contend([s.finalist for s in evaluations if s.finalist])
    findings = Findings(
        causes=(*excluded, *(cause for s in evaluations for cause in s.causes), *beaten),
        notes=tuple(note for s in evaluations for note in s.notes),
    )
    return _checked(request, _only(request, left, findings), findings)


def _excluded(catalog: CatalogContent, request: Request) -> Cause | None:
    """Why a catalog is not considered, or None."""
    if not selects(request.desired.selector, catalog.labels):
        return Cause(catalog=catalog.name, reason=Reason.CATALOG_NOT_SELECTED)
    if catalog.unavailable:
        return Cause(
            catalog=catalog.name,
            reason=Reason.CATALOG_UNAVAILABLE,
            detail=catalog.unavailable.message,
        )
    if catalog.package is None:
        return Cause(catalog=catalog.name, reason=Reason.PACKAGE_ABSENT)
    return None


def _contend(finalists: Sequence[Finalist]) -> tuple[list[Finalist], list[Cause]]:
    """Those that are left, one unless the choice is ambiguous, and the causes of the beaten."""
    fresh = [finalist for finalist in finalists if not finalist.deprecated]
    left = sorted(fresh or finalists, key=lambda f: f.offer.priority, reverse=True)
    if not left:
        return [], []
    top = left[0].rival
    beaten = [
        f.cause(Reason.DEPRECATED_BEHIND, rival=top) for f in finalists if fresh and f.deprecated
    ]
    if len(left) > 1 and left[0].offer.priority != left[1].offer.priority:
        beaten += [f.cause(Reason.LOWER_PRIORITY, rival=top) for f in left[1:]]
        left = left[:1]
    return left, beaten


def _only(request: Request, left: Sequence[Finalist], findings: Findings) -> Finalist:
    """The one that is left. Raises ResolutionError where none or several are."""
    if len(left) == 1:
        return left[0]
    unknown = _unavailable(findings)
    if not left and unknown:
        package = request.desired.package_name
        first = min(unknown, key=lambda cause: cause.catalog)
        message = messages.unavailable(package, first.catalog, first.detail)
    else:
        message = messages.not_one(request, (f.offer.catalog for f in left))
    ambiguous = [finalist.cause(Reason.AMBIGUOUS) for finalist in left]
    raise ResolutionError(message, _with(findings, ambiguous))


def _checked(request: Request, finalist: Finalist, findings: Findings) -> Resolution:
    """The resolution. Raises ResolutionError where the bundle cannot be installed.

    There is no fallback to the next best bundle: the choice must not depend on such faults.
    """
    bundle, catalog = finalist.bundle, finalist.offer.catalog
    if bundle.version is None:
        cause = finalist.cause(Reason.VERSION_UNREADABLE, detail=bundle.version_fault)
        message = messages.unreadable_version(bundle.name, bundle.version_fault)
        raise ResolutionError(message, _with(findings, [cause]))
    if bundle.dependencies:
        kind = bundle.dependencies[0]
        cause = finalist.cause(Reason.UNSUPPORTED_DEPENDENCY, detail=kind)
        message = messages.unsupported_dependency(bundle.name, kind)
        raise ResolutionError(message, _with(findings, [cause]))
    notes = [
        Note(kind=NoteKind.INCOMPLETE_VIEW, catalog=cause.catalog, detail=cause.detail)
        for cause in _unavailable(findings)
    ]
    if bundle.version.version.prerelease and not request.desired.version:
        kind_ = NoteKind.PRERELEASE_WITHOUT_RANGE
        notes.append(Note(kind=kind_, catalog=catalog, bundle=bundle.name))
    return Resolution(
        package=request.desired.package_name,
        bundle=bundle.name,
        image=bundle.image,
        version=bundle.version,
        catalog=catalog,
        deprecations=finalist.offer.package.deprecations,
        findings=_with(findings, [finalist.cause(Reason.CHOSEN)], notes),
    )


def _unavailable(findings: Findings) -> list[Cause]:
    return [cause for cause in findings.causes if cause.reason is Reason.CATALOG_UNAVAILABLE]


def _with(findings: Findings, causes: Iterable[Cause], notes: Iterable[Note] = ()) -> Findings:
    return findings._replace(causes=(*findings.causes, *causes), notes=(*findings.notes, *notes))
