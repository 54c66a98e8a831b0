"""The smallest change of the spec with which a bundle would be chosen.

A change sets some of four fields: the version to the bundle's own, one channel more (or none at
all for a bundle that is in no channel), the selector to the bundle's catalog, the policy to
SelfCertified. The smallest sets the fewest; among equals one that keeps the policy goes
first, then bundles that are not deprecated, then the highest version.

The rules only narrow the search: a change is returned when `resolve` with it chooses that bundle.
Each edit is tried once, and the work of all tries together is bounded.
"""

from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations, product

from msgspec.structs import replace

from api.metadata import LabelSelector
from api.olm.v1.clusterextension import CatalogFilter, UpgradeConstraintPolicy
from operator_controller.resolve.change import Change, Field, NoChange, named
from operator_controller.resolve.errors import ResolutionError
from operator_controller.resolve.request import CatalogContent, Request
from operator_controller.resolve.rules import written
from operator_controller.resolve.select import resolve
from operator_controller.resolve.targets import Target, more_channels, pin, targets_of

MAX_WORK = 100_000
"""Bundles and channel entries that one search may read: about half a second. Real packages need one
to five tries; the bound is for catalogs that would need thousands. The best bundles come first."""


def find_change(request: Request, catalogs: Sequence[CatalogContent]) -> Change | NoChange:
    """The smallest change with which a request that resolves to no bundle resolves to one."""
    targets = targets_of(request, catalogs)
    return _smallest(request, catalogs, targets) or _no_change(catalogs, targets)


def find_change_to(
    request: Request, catalogs: Sequence[CatalogContent], *, catalog: str, bundle: str
) -> Change | None:
    """The smallest change with which that bundle of that catalog is chosen; None if none is found.

    The change has no fields if the request already resolves to it.
    """
    targets = [
        target
        for target in targets_of(request, catalogs)
        if (target.catalog.name, target.bundle.name) == (catalog, bundle)
    ]
    found = _smallest(request, catalogs, targets)
    return found if isinstance(found, Change) else None


def _smallest(
    request: Request, catalogs: Sequence[CatalogContent], targets: Sequence[Target]
) -> Change | NoChange | None:
    """The first edit that selects its target, small edits first."""
    per_try, work = _size(catalogs), 0
    known: dict[Hashable, tuple[str, str] | None] = {}
    for target, desired in _edits(request.desired, targets):
        key, work = _identity(desired), work + 1
        if key not in known:
            work += per_try
            if known and work > MAX_WORK:
                return NoChange.NOT_ALL_TRIED
            known[key] = _outcome(request._replace(desired=desired), catalogs)
        if known[key] == (target.catalog.name, target.bundle.name):
            return Change(
                before=request.desired,
                after=desired,
                catalog=target.catalog.name,
                bundle=target.bundle.name,
                version=written(target.bundle),
            )
    return None


def _size(catalogs: Sequence[CatalogContent]) -> int:
    """The work of one resolution: bundles, and the edges of their channel entries."""
    packages = [catalog.package for catalog in catalogs if catalog.package]
    entries = (
        entry for package in packages for channel in package.channels for entry in channel.entries
    )
    return sum(len(p.bundles) for p in packages) + sum(1 + len(e.skips) for e in entries)


def _identity(desired: CatalogFilter) -> Hashable:
    selector = desired.selector
    return (
        desired.version,
        desired.channels,
        tuple(selector.match_labels.items()),
        selector.match_expressions,
        desired.upgrade_constraint_policy,
    )


def _outcome(request: Request, catalogs: Sequence[CatalogContent]) -> tuple[str, str] | None:
    """The catalog and bundle that a request resolves to."""
    try:
        found = resolve(request, catalogs)
    except ResolutionError:
        return None
    return found.catalog, found.bundle


def _edits(
    desired: CatalogFilter, targets: Sequence[Target]
) -> Iterator[tuple[Target, CatalogFilter]]:
    """Targets and the filters that could select them, the smallest edits first."""
    for size in range(len(Field) + 1):
        sets = [frozenset(fields) for fields in combinations(Field, size)]
        for free in (False, True):
            of_policy = [fields for fields in sets if (Field.POLICY in fields) is free]
            for target, fields in product(targets, of_policy):
                if target.needed <= fields <= target.useful:
                    yield from ((target, edit) for edit in _edit(desired, target, fields))


def _edit(
    desired: CatalogFilter, target: Target, fields: frozenset[Field]
) -> Iterator[CatalogFilter]:
    """The ways to change exactly these fields that the API server takes."""
    edited = desired
    if Field.VERSION in fields:
        edited = replace(edited, version=pin(target.bundle))
    if Field.SELECTOR in fields:
        edited = replace(edited, selector=LabelSelector(match_labels=named(target.catalog.name)))
    if Field.POLICY in fields:
        edited = replace(edited, upgrade_constraint_policy=UpgradeConstraintPolicy.SELF_CERTIFIED)
    choices = more_channels(desired, target) if Field.CHANNELS in fields else [desired.channels]
    for channels in choices:
        yield replace(edited, channels=channels)


def _no_change(catalogs: Sequence[CatalogContent], targets: Sequence[Target]) -> NoChange:
    if targets:
        return NoChange.NOT_TOLD_APART
    if not catalogs:
        return NoChange.NO_CATALOG
    if any(catalog.unavailable for catalog in catalogs):
        return NoChange.CATALOG_UNAVAILABLE
    if any(catalog.package and catalog.package.bundles for catalog in catalogs):
        return NoChange.NOT_INSTALLABLE
    return NoChange.PACKAGE_ABSENT
