"""Laws of the explanation: one reason each, and a change gives the bundle that it names.

The cases are numbered and the same in every run; a failure names the number of its case.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import product

import pytest

from api.metadata import LabelSelector
from api.olm.v1.clusterextension import CatalogFilter, UpgradeConstraintPolicy
from olm_content.fbc.model import Package
from olm_content.versions import parse_bundle_version
from operator_controller.resolve import (
    CatalogContent,
    Findings,
    Request,
    Resolution,
    ResolutionError,
    resolve,
)
from operator_controller.resolve.change import Change, Field, named, value_of
from operator_controller.resolve.change_search import find_change, find_change_to
from operator_controller.resolve.change_text import MAX_SHORT_FORM, short_form
from operator_controller.resolve.change_text import sentence as text_of
from operator_controller.resolve.explain import sentence
from tests.property.resolution_worlds import CHANNELS, VERSIONS, world_of
from tests.property.scale import cases

pytestmark = pytest.mark.property

CASES = cases(10_000)
PARTS = 20
BRUTE_FORCE_EVERY = 20
EVERY_BUNDLE_EVERY = 4


def part(number: int, step: int = 1) -> Iterator[tuple[int, Request, list[CatalogContent]]]:
    """The cases of one part of the run."""
    for seed in range(number, CASES, PARTS * step):
        yield seed, *world_of(seed)


def outcome(request: Request, world: list[CatalogContent]) -> Resolution | ResolutionError:
    try:
        return resolve(request, world)
    except ResolutionError as error:
        return error


def asked(request: Request, desired: CatalogFilter, world: list[CatalogContent]) -> object:
    """What a request comes to with another wish: catalog and bundle, or None."""
    found = outcome(request._replace(desired=desired), world)
    return (found.catalog, found.bundle) if isinstance(found, Resolution) else None


def reasons_of(findings: Findings) -> Counter[tuple[str, str]]:
    return Counter((cause.catalog, cause.bundle) for cause in findings.causes if cause.bundle)


def considered(request: Request, world: list[CatalogContent], findings: Findings) -> list[Package]:
    passed = {cause.catalog for cause in findings.causes if not cause.bundle}
    return [c.package for c in world if c.package and c.name not in passed]


@pytest.mark.parametrize("number", range(PARTS))
def test_every_bundle_has_one_reason_and_the_advice_holds(number: int) -> None:
    """Exactly one reason each; applying the suggested change does resolve, to what it says."""
    for seed, request, world in part(number):
        found = outcome(request, world)
        counted = reasons_of(found.findings)
        assert all(count == 1 for count in counted.values()), seed
        assert all(sentence(cause, request) for cause in found.findings.causes), seed
        if found.findings.causes:
            packages = considered(request, world, found.findings)
            assert counted.total() == sum(len(package.bundles) for package in packages), seed
        if isinstance(found, Resolution):
            continue
        advice = find_change(request, world)
        assert text_of(advice), seed
        assert len(short_form(found.findings, advice)) <= MAX_SHORT_FORM, seed
        if isinstance(advice, Change):
            assert advice.fields, seed
            assert asked(request, advice.after, world) == (advice.catalog, advice.bundle), seed


@pytest.mark.parametrize("number", range(PARTS))
def test_a_change_for_a_bundle_comes_to_that_bundle(number: int) -> None:
    """The smallest change of the spec that would make a candidate resolve: that candidate."""
    for seed, request, world in part(number, EVERY_BUNDLE_EVERY):
        for catalog in world:
            for bundle in catalog.package.bundles if catalog.package else ():
                change = find_change_to(request, world, catalog=catalog.name, bundle=bundle.name)
                if change is not None:
                    got = asked(request, change.after, world)
                    assert got == (catalog.name, bundle.name), seed
                elif not catalog.unavailable and bundle.version and not bundle.dependencies:
                    assert has_twin(catalog.package, bundle.name), seed


def has_twin(package: Package | None, name: str) -> bool:
    """Whether another bundle has the same version but for its release: a pin cannot choose."""
    bundles = package.bundles if package else ()
    (own,) = (b.version for b in bundles if b.name == name)
    versions = [b.version.version.key for b in bundles if b.version]
    return own is not None and versions.count(own.version.key) > 1


@pytest.mark.parametrize("number", range(PARTS))
def test_no_smaller_change_resolves(number: int) -> None:
    """Against trying everything: no change with fewer fields, and none where none is reported."""
    for seed, request, world in part(number, BRUTE_FORCE_EVERY):
        if isinstance(outcome(request, world), Resolution):
            continue
        advice = find_change(request, world)
        most = len(Field)
        if isinstance(advice, Change):
            assert changed(request.desired, advice.after) == len(advice.fields), seed
            assert asked(request, advice.after, world), seed
            most = len(advice.fields) - 1
        for edit in all_edits(request.desired, world):
            if changed(request.desired, edit) <= most:
                assert not asked(request, edit, world), seed


def changed(desired: CatalogFilter, edit: CatalogFilter) -> int:
    """How many fields of the spec an edit changes."""
    return sum(value_of(edit, each) != value_of(desired, each) for each in Field)


def all_edits(desired: CatalogFilter, world: list[CatalogContent]) -> Iterator[CatalogFilter]:
    pins = {str(parse_bundle_version(version).version) for version in VERSIONS}
    for version, channels, selector, policy in product(
        sorted({desired.version, "", *pins}),
        [desired.channels, (), *((*desired.channels, c) for c in CHANNELS)],
        [desired.selector, *(LabelSelector(match_labels=named(c.name)) for c in world)],
        UpgradeConstraintPolicy,
    ):
        yield CatalogFilter(
            package_name=desired.package_name,
            version=version,
            channels=channels,
            selector=selector,
            upgrade_constraint_policy=policy,
        )
