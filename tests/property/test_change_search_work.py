"""The search for advice is bounded by what it looks at, whatever catalogs hold.

What is counted is what rules and edges are asked, not what the search believes that it costs.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.olm.v1.clusterextension import BundleMetadata, CatalogFilter, UpgradeConstraintPolicy
from olm_content.fbc.model import Bundle, Channel, Entry, Package
from olm_content.versions import parse_bundle_version
from operator_controller.resolve import (
    CatalogContent,
    Request,
    ResolutionError,
    resolve,
    select,
)
from operator_controller.resolve import (
    change_search as suggest,
)
from operator_controller.resolve.candidates import Evaluation, evaluate
from operator_controller.resolve.change import Change, NoChange, named
from operator_controller.resolve.change_search import MAX_WORK, find_change
from operator_controller.resolve.criteria import Criteria
from operator_controller.resolve.rules import Offer
from tests.property.scale import cases

pytestmark = pytest.mark.property


class Work:
    """How many bundles and entries evaluations have looked at."""

    def __init__(self) -> None:
        self.count = 0

    def evaluate(self, offer: Offer, criteria: Criteria) -> Evaluation:
        package = offer.package
        entries = [entry for channel in package.channels for entry in channel.entries]
        self.count += len(package.bundles) + len(entries)
        return evaluate(offer, criteria)


@contextmanager
def counted() -> Iterator[Work]:
    work = Work()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(select, "evaluate", work.evaluate)
        yield work


def package(random: Random, size: int, channels: int, twins: bool) -> Package:
    """A line of updates; with twins each version is there again as another release."""
    names = [f"p.v1.{number}.0" for number in range(size)]
    bundles = [
        Bundle(name, name, parse_bundle_version(f"1.{number // 2 if twins else number}.0"))
        for number, name in enumerate(names)
    ]
    random.shuffle(bundles)
    entries = tuple(
        Entry(name, replaces=before, skip_range=random.choice(["", "<1.5.0"]))
        for before, name in zip(["", *names], names, strict=False)
    )
    lines = tuple(Channel(f"c{number}", entries) for number in range(channels))
    return Package("p", "c0", lines, tuple(bundles))


@st.composite
def worlds(draw: st.DrawFn, size: int) -> tuple[Request, list[CatalogContent]]:
    """A request that most often comes to nothing, and catalogs that are hard to tell apart."""
    random = draw(st.randoms(use_true_random=False))
    shared = package(
        random, draw(st.integers(0, size)), draw(st.integers(0, 4)), draw(st.booleans())
    )
    catalogs = [
        CatalogContent(name=name, labels=draw(st.sampled_from([{}, named(name)])), package=shared)
        for name in "abc"[: draw(st.integers(1, 3))]
    ]
    desired = CatalogFilter(
        package_name="p",
        version=draw(st.sampled_from(["", "9.x", ">1.3", "1.1.0"])),
        channels=draw(st.sampled_from([(), ("none",), ("c0",)])),
        upgrade_constraint_policy=draw(st.sampled_from(list(UpgradeConstraintPolicy))),
    )
    installed = draw(st.sampled_from([None, "1.1.0", "7.0.0", "none"]))
    held = BundleMetadata(name="p.v1.1.0", version=installed) if installed else None
    return Request(desired, held), catalogs


def outcome(request: Request, catalogs: list[CatalogContent]) -> tuple[str, str] | None:
    try:
        found = resolve(request, catalogs)
    except ResolutionError:
        return None
    return found.catalog, found.bundle


@settings(max_examples=cases(60), deadline=None)
@given(worlds(300))
def test_the_search_reads_no_more_than_its_bound(
    world: tuple[Request, list[CatalogContent]],
) -> None:
    """But for one choice, as large as the one that failed."""
    request, catalogs = world
    with counted() as one:
        outcome(request._replace(desired=CatalogFilter(package_name="p")), catalogs)
    with counted() as work, pytest.MonkeyPatch.context() as patch:
        patch.setattr(suggest, "MAX_WORK", 5_000)
        find_change(request, catalogs)
    assert work.count <= max(5_000, one.count)


@settings(max_examples=cases(60), deadline=None)
@given(worlds(30), st.integers(1, 2_000))
def test_a_bound_changes_no_advice_but_that_some_is_not_found(
    world: tuple[Request, list[CatalogContent]], bound: int
) -> None:
    request, catalogs = world
    if outcome(request, catalogs):
        return
    whole = find_change(request, catalogs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(suggest, "MAX_WORK", bound)
        bounded = find_change(request, catalogs)
    assert bounded in (whole, NoChange.NOT_ALL_TRIED)
    assert whole is not NoChange.NOT_ALL_TRIED


@pytest.mark.parametrize("size", [10, 1_000, 4_000])
def test_the_largest_packages_are_within_the_bound(size: int) -> None:
    """Catalogs that nothing tells apart: every bundle of each could be tried for."""
    shared = package(Random(1), size, 1, twins=False)
    alike = [CatalogContent(name=name, package=shared) for name in "ab"]
    with counted() as work:
        advice = find_change(Request(CatalogFilter(package_name="p")), alike)
    assert work.count <= MAX_WORK
    expected = NoChange.NOT_TOLD_APART if size == 10 else NoChange.NOT_ALL_TRIED
    assert advice is expected


def test_edits_that_are_the_same_for_many_bundles_are_tried_once() -> None:
    """Of two equal catalogs one is to be selected, however many bundles there are."""
    shared = package(Random(1), 1_000, 1, twins=False)
    equal = [CatalogContent(name=name, labels=named(name), package=shared) for name in "ab"]
    request = Request(CatalogFilter(package_name="p"))
    advice = find_change(request, equal)
    assert isinstance(advice, Change)
    assert outcome(request._replace(desired=advice.after), equal) == ("a", "p.v1.999.0")
