"""Laws of the choice, over generated catalogs and requests."""

from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from api.olm.v1.clusterextension import BundleMetadata, CatalogFilter, UpgradeConstraintPolicy
from olm_content.fbc.model import Bundle, Channel, Deprecation, Entry, Package
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
from tests.property.scale import cases

pytestmark = pytest.mark.property

many = settings(max_examples=cases(300), deadline=None)

VERSIONS = ["0.9.0", "1.0.0", "1.0.0+2", "1.1.0-rc.1", "1.1.0", "2.0.0", "2.0.0-0", "3.0.0"]
CHANNELS = ["alpha", "stable", "fast"]
RANGES = ["", ">=1", "<2", "1.x", "~1.1", ">=1.0.0-0", "2.0.0", "!=1.1", "<1 || >2"]
SKIPS = ["", "", "<2.0.0", ">=1.0.0 <3.0.0", "^1", "1.x"]

bundles = st.sampled_from(VERSIONS).map(
    lambda text: Bundle(f"p.v{text}", f"image:{text}", parse_bundle_version(text))
)
names = st.sampled_from([f"p.v{text}" for text in VERSIONS])
entries = st.builds(
    Entry,
    names,
    st.just("") | names,
    st.lists(names, max_size=2).map(tuple),
    st.sampled_from(SKIPS),
)
packages = st.builds(
    Package,
    name=st.just("p"),
    channels=st.lists(
        st.builds(Channel, st.sampled_from(CHANNELS), st.lists(entries, max_size=6).map(tuple)),
        max_size=3,
        unique_by=lambda channel: channel.name,
    ).map(tuple),
    bundles=st.lists(bundles, max_size=6, unique_by=lambda bundle: bundle.name).map(tuple),
    deprecations=st.lists(
        st.builds(Deprecation, st.just("olm.bundle"), names, st.just("old")), max_size=3
    ).map(tuple),
)


@st.composite
def worlds(draw: st.DrawFn) -> list[CatalogContent]:
    size = draw(st.integers(0, 3))
    return [
        CatalogContent(
            name=name,
            priority=draw(st.integers(-1, 1)),
            package=draw(st.none() | packages),
            unavailable=draw(st.sampled_from([None, None, None, OLMError("down")])),
        )
        for name in "abc"[:size]
    ]


requests = st.builds(
    Request,
    st.builds(
        CatalogFilter,
        package_name=st.just("p"),
        version=st.sampled_from(RANGES),
        channels=st.lists(st.sampled_from(CHANNELS), max_size=2, unique=True).map(tuple),
        upgrade_constraint_policy=st.sampled_from(UpgradeConstraintPolicy),
    ),
    st.none()
    | st.sampled_from(VERSIONS).map(lambda text: BundleMetadata(name=f"p.v{text}", version=text)),
)


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
@given(requests, worlds())
def test_every_bundle_has_exactly_one_reason(request: Request, world: list[CatalogContent]) -> None:
    """For each candidate in each catalog exactly one reason, and a sentence for it."""
    found = outcome(request, world)
    bundles = Counter((c.name, b.name) for c, package in known(world) for b in package.bundles)
    assert reasons_of(found.findings) == bundles
    assert all(sentence(cause, request) for cause in found.findings.causes)
    chosen = [c for c in found.findings.causes if c.reason is Reason.CHOSEN]
    assert len(chosen) == isinstance(found, Resolution)


@many
@given(requests, worlds())
def test_the_order_of_catalogs_does_not_matter(
    request: Request, world: list[CatalogContent]
) -> None:
    """Decisions depend on what there is, not on how it is listed."""
    assert decision(request, world) == decision(request, world[::-1])


@many
@given(requests, worlds())
def test_a_successor_satisfies_the_request(request: Request, world: list[CatalogContent]) -> None:
    """The chosen bundle is in its catalog's package, in the channels and the range asked for."""
    found = outcome(request, world)
    if isinstance(found, ResolutionError):
        return
    (package,) = (p for c, p in known(world) if c.name == found.catalog)
    assert found.bundle in {bundle.name for bundle in package.bundles}
    if request.desired.channels:
        counting = [c for c in package.channels if c.name in request.desired.channels]
        assert found.bundle in {entry.name for channel in counting for entry in channel.entries}


@many
@given(requests, worlds())
def test_what_was_passed_over_as_lower_is_lower_or_deprecated(
    request: Request, world: list[CatalogContent]
) -> None:
    """Non-deprecated before deprecated, then version and release descending."""
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
@given(requests, worlds())
def test_self_certified_offers_at_least_as_much(
    request: Request, world: list[CatalogContent]
) -> None:
    """The policy lifts the need for an edge and nothing else."""
    free = request._replace(
        desired=replace(
            request.desired, upgrade_constraint_policy=UpgradeConstraintPolicy.SELF_CERTIFIED
        ),
    )
    causes = outcome(free, world).findings.causes
    assert not any(cause.reason is Reason.NOT_A_SUCCESSOR for cause in causes)
    assert decision(free._replace(installed=None), world)[-1] in decision(free, world)[-1]


@many
@given(requests, worlds())
def test_a_catalog_without_the_package_changes_nothing(
    request: Request, world: list[CatalogContent]
) -> None:
    """A catalog that does not have the package is skipped."""
    more = [*world, CatalogContent(name="z", priority=100)]
    assert decision(request, more) == decision(request, world)


@many
@given(requests, worlds())
def test_a_catalog_that_is_down_matters_only_if_nothing_is_found(
    request: Request, world: list[CatalogContent]
) -> None:
    """A catalog that is not serving fails only the extensions that need it."""
    up = [catalog for catalog in world if not catalog.unavailable]
    assume(len(up) < len(world))
    whole, without = outcome(request, world), outcome(request, up)
    if isinstance(without, Resolution) or "found bundles" in without.message:
        assert decision(request, world) == decision(request, up)
    elif "is currently not supported" not in without.message:
        assert isinstance(whole, ResolutionError)
        assert whole.message.endswith(": down")


@many
@given(requests, worlds())
def test_the_installed_bundle_may_always_stay(
    request: Request, world: list[CatalogContent]
) -> None:
    """The candidate with exactly the installed version and release is a successor."""
    assume(request.installed)
    assert request.installed
    for cause in outcome(request, world).findings.causes:
        if cause.version == request.installed.version:
            assert cause.reason is not Reason.NOT_A_SUCCESSOR
