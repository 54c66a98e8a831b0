"""The smallest change of the spec with which a bundle would be chosen.

A change sets some of four fields: the version to the bundle's own, one channel more (or none at
all for a bundle that is in no channel), the selector to the bundle's catalog, the policy to
SelfCertified. The smallest sets the fewest; among equals one that keeps the catalog's word
(the policy stays) goes first, then bundles that are not deprecated, then the highest version.

What the rules say a bundle lacks only narrows the search: a change is told when `resolve` itself,
asked with it, comes to that bundle. Each edit is tried once, and all tries together are bounded by
what they look at.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product

from api.olm.v1.clusterextension import CatalogFilter, UpgradeConstraintPolicy
from api.olm.v1.common import LabelSelector
from operator_controller.resolve.change import Change, Field, Hopeless, named
from operator_controller.resolve.errors import ResolutionError
from operator_controller.resolve.request import CatalogContent, Request
from operator_controller.resolve.rules import written
from operator_controller.resolve.select import resolve
from operator_controller.resolve.targets import Target, more_channels, pin, targets_of

MAX_WORK = 100_000
"""So many bundles and entries of channels are looked at to find a change: half a second or so. Real
packages need one to five tries; the bound is for catalogs that would need thousands, where the best
bundles still are tried first."""


def advise(request: Request, catalogs: Sequence[CatalogContent]) -> Change | Hopeless:
    """For a request that comes to no bundle: the smallest change with which it comes to one."""
    targets = targets_of(request, catalogs)
    return _smallest(request, catalogs, targets) or _hopeless(catalogs, targets)


def change_for(
    request: Request, catalogs: Sequence[CatalogContent], *, catalog: str, bundle: str
) -> Change | None:
    """The smallest change with which that bundle of that catalog is chosen; None if none is found.

    A request that comes to it already needs no change: the answer then has no fields.
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
) -> Change | Hopeless | None:
    """The first edit that comes to its target, looking at small ones first."""
    per_try, work = _size(catalogs), 0
    known: dict[Hashable, tuple[str, str] | None] = {}
    for target, wanted in _edits(request.wanted, targets):
        key, work = _identity(wanted), work + 1
        if key not in known:
            work += per_try
            if known and work > MAX_WORK:
                return Hopeless.NOT_ALL_TRIED
            known[key] = _outcome(replace(request, wanted=wanted), catalogs)
        if known[key] == (target.catalog.name, target.bundle.name):
            return Change(
                before=request.wanted,
                after=wanted,
                catalog=target.catalog.name,
                bundle=target.bundle.name,
                version=written(target.bundle),
            )
    return None


def _size(catalogs: Sequence[CatalogContent]) -> int:
    """How much one choice looks at: bundles, and what their entries in channels follow."""
    packages = [catalog.package for catalog in catalogs if catalog.package]
    entries = (
        entry for package in packages for channel in package.channels for entry in channel.entries
    )
    return sum(len(p.bundles) for p in packages) + sum(1 + len(e.skips) for e in entries)


def _identity(wanted: CatalogFilter) -> Hashable:
    selector = wanted.selector
    return (
        wanted.version,
        wanted.channels,
        tuple(selector.match_labels.items()),
        selector.match_expressions,
        wanted.upgrade_constraint_policy,
    )


def _outcome(request: Request, catalogs: Sequence[CatalogContent]) -> tuple[str, str] | None:
    """The catalog and bundle that a request comes to."""
    try:
        found = resolve(request, catalogs)
    except ResolutionError:
        return None
    return found.catalog, found.bundle


def _edits(
    wanted: CatalogFilter, targets: Sequence[Target]
) -> Iterator[tuple[Target, CatalogFilter]]:
    """What may be asked for, and for the sake of which bundle; the smallest edits first."""
    for size in range(len(Field) + 1):
        sets = [frozenset(fields) for fields in combinations(Field, size)]
        for free in (False, True):
            of_policy = [fields for fields in sets if (Field.POLICY in fields) is free]
            for target, fields in product(targets, of_policy):
                if target.needed <= fields <= target.useful:
                    yield from ((target, edit) for edit in _edit(wanted, target, fields))


def _edit(
    wanted: CatalogFilter, target: Target, fields: frozenset[Field]
) -> Iterator[CatalogFilter]:
    """The ways to change exactly these fields that the API server takes."""
    edited = wanted
    if Field.VERSION in fields:
        edited = replace(edited, version=pin(target.bundle))
    if Field.SELECTOR in fields:
        edited = replace(edited, selector=LabelSelector(match_labels=named(target.catalog.name)))
    if Field.POLICY in fields:
        edited = replace(edited, upgrade_constraint_policy=UpgradeConstraintPolicy.SELF_CERTIFIED)
    choices = more_channels(wanted, target) if Field.CHANNELS in fields else [wanted.channels]
    for channels in choices:
        yield replace(edited, channels=channels)


def _hopeless(catalogs: Sequence[CatalogContent], targets: Sequence[Target]) -> Hopeless:
    if targets:
        return Hopeless.NOT_TOLD_APART
    if not catalogs:
        return Hopeless.NO_CATALOG
    if any(catalog.unavailable for catalog in catalogs):
        return Hopeless.CATALOG_UNAVAILABLE
    if any(catalog.package and catalog.package.bundles for catalog in catalogs):
        return Hopeless.NOT_INSTALLABLE
    return Hopeless.PACKAGE_ABSENT
