"""Laws of the choice, over generated catalogs and requests."""

from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from api.olm.v1.clusterextension import UpgradeConstraintPolicy
from olm_content.fbc.model import Package
from olm_content.versions import parse_bundle_version
from olm_runtime.errors import OLMError
from operator_controller.resolve import (
    CatalogContent,
    Findings,
    Reason,
    Request,
    Resolution,
    ResolutionError,
    resolve,
)
from operator_controller.resolve.explain import sentence
from tests.property.resolution_worlds import sound_world_of
from tests.property.scale import cases

pytestmark = pytest.mark.property

many = settings(max_examples=cases(600), deadline=None)
# One draw: catalogs that Hypothesis draws part by part take twenty times as long as what is tested.
worlds = st.integers(0, 2**64 - 1).map(sound_world_of)

World = tuple[Request, list[CatalogContent]]


def outcome(request: Request, world: list[CatalogContent]) -> Resolution | ResolutionError:
    try:
        return resolve(request, world)
    except ResolutionError as error:
        return error


def decision(request: Request, world: list[CatalogContent]) -> tuple[str, ...]:
    found = outcome(request, world)
    return (found.message,) if isinstance(found, ResolutionError) else (found.catalog, found.bundle)


def known(world: list[CatalogContent]) -> list[tuple[CatalogContent, Package]]:
    return [(c, c.package) for c in world if c.package and not c.unavailable]


def reasons_of(findings: Findings) -> Counter[tuple[str, str]]:
    return Counter((cause.catalog, cause.bundle) for cause in findings.causes if cause.bundle)


@many
@given(worlds)
def test_every_bundle_has_exactly_one_reason(drawn: World) -> None:
    """For each candidate in each catalog exactly one reason, and a sentence for it."""
    request, world = drawn
    found = outcome(request, world)
    bundles = Counter((c.name, b.name) for c, package in known(world) for b in package.bundles)
    assert reasons_of(found.findings) == bundles
    assert all(sentence(cause, request) for cause in found.findings.causes)
    chosen = [c for c in found.findings.causes if c.reason is Reason.CHOSEN]
    assert len(chosen) == isinstance(found, Resolution)


@many
@given(worlds)
def test_the_order_of_catalogs_does_not_matter(drawn: World) -> None:
    """Decisions depend on what there is, not on how it is listed."""
    request, world = drawn
    assert decision(request, world) == decision(request, world[::-1])


@many
@given(worlds)
def test_a_successor_satisfies_the_request(drawn: World) -> None:
    """The chosen bundle is in its catalog's package, in the channels and the range asked for."""
    request, world = drawn
    found = outcome(request, world)
    if isinstance(found, ResolutionError):
        return
    (package,) = (p for c, p in known(world) if c.name == found.catalog)
    assert found.bundle in {bundle.name for bundle in package.bundles}
    if request.desired.channels:
        counting = [c for c in package.channels if c.name in request.desired.channels]
        assert found.bundle in {entry.name for channel in counting for entry in channel.entries}


@many
@given(worlds)
def test_what_was_passed_over_as_lower_is_lower_or_deprecated(drawn: World) -> None:
    """Non-deprecated before deprecated, then version and release descending."""
    request, world = drawn
    found = outcome(request, world)
    for cause in found.findings.causes:
        if cause.reason is Reason.LOWER_VERSION:
            assert cause.rival
            lower, higher = (parse_bundle_version(v) for v in (cause.version, cause.rival.version))
            deprecated = {p.deprecated_bundles for c, p in known(world) if c.name == cause.catalog}
            both = [{cause.bundle, cause.rival.bundle} <= names for names in deprecated]
            neither = [not {cause.bundle, cause.rival.bundle} & names for names in deprecated]
            assert lower.key <= higher.key
            assert both[0] or neither[0]


@many
@given(worlds)
def test_self_certified_offers_at_least_as_much(drawn: World) -> None:
    """The policy lifts the need for an edge and nothing else."""
    request, world = drawn
    free = request._replace(
        desired=replace(
            request.desired, upgrade_constraint_policy=UpgradeConstraintPolicy.SELF_CERTIFIED
        ),
    )
    causes = outcome(free, world).findings.causes
    assert not any(cause.reason is Reason.NOT_A_SUCCESSOR for cause in causes)
    assert decision(free._replace(installed=None), world)[-1] in decision(free, world)[-1]


@many
@given(worlds)
def test_a_catalog_without_the_package_changes_nothing(drawn: World) -> None:
    """A catalog that does not have the package is skipped."""
    request, world = drawn
    more = [*world, CatalogContent(name="z", priority=100)]
    assert decision(request, more) == decision(request, world)


@many
@given(worlds)
def test_a_catalog_that_is_down_matters_only_if_nothing_is_found(drawn: World) -> None:
    """A catalog that is not serving fails only the extensions that need it."""
    request, world = drawn
    assume(world)
    world = [world[0]._replace(unavailable=OLMError("down")), *world[1:]]
    up = [catalog for catalog in world if not catalog.unavailable]
    whole, without = outcome(request, world), outcome(request, up)
    if isinstance(without, Resolution) or "found bundles" in without.message:
        assert decision(request, world) == decision(request, up)
    elif "is currently not supported" not in without.message:
        assert isinstance(whole, ResolutionError)
        assert whole.message.endswith(": down")


@many
@given(worlds)
def test_the_installed_bundle_may_always_stay(drawn: World) -> None:
    """The candidate with exactly the installed version and release is a successor."""
    request, world = drawn
    assume(request.installed)
    assert request.installed
    for cause in outcome(request, world).findings.causes:
        if cause.version == request.installed.version:
            assert cause.reason is not Reason.NOT_A_SUCCESSOR
