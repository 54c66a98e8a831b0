"""What OLM Classic's resolver chooses meets every constraint, whatever the order of its input."""

import itertools
import random
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from olm_classic.dialect import Dialect
from olm_classic.resolve import (
    Catalog,
    Entry,
    Limit,
    MemoryReader,
    Namespace,
    Resolution,
    SourceKey,
    UnsatisfiableError,
    resolve,
)
from olm_classic.resolve.entries import tolerant_version
from olm_classic.resolve.explain import explain

pytestmark = pytest.mark.property

KEY = SourceKey("cat", "olm")
GROUP = {"metadata": {"name": "og", "namespace": "ns"}, "spec": {}}
APIS = st.lists(st.sampled_from("XYZ"), max_size=2, unique=True)
BUNDLES = st.lists(st.tuples(APIS, APIS), min_size=1, max_size=3)
WORLDS = st.lists(BUNDLES, min_size=1, max_size=4)


def api(kind: str) -> dict[str, str]:
    return {"group": "g", "version": "v1", "kind": kind}


def entries(world: list[list[tuple[list[str], list[str]]]]) -> list[Entry]:
    found = []
    for number, bundles in enumerate(world):
        package = f"p{number}"
        for minor, (provided, required) in enumerate(bundles):
            version = f"1.{minor}.0"
            properties = [
                {"type": "olm.package", "value": {"packageName": package, "version": version}},
                *({"type": "olm.gvk", "value": api(kind)} for kind in provided),
                *({"type": "olm.gvk.required", "value": api(kind)} for kind in required),
            ]
            found.append(
                Entry(
                    f"{package}.v{minor}",
                    KEY,
                    package,
                    "stable",
                    f"{package}.v{minor - 1}" if minor else "",
                    version=tolerant_version(version),
                    default_channel="stable",
                    properties=tuple(properties),
                )
            )
    return found


def namespace(given: Iterable[Entry], packages: Iterable[str]) -> Namespace:
    subscriptions = tuple(
        {
            "metadata": {"name": f"s-{name}", "namespace": "ns"},
            "spec": {"name": name, "source": "cat", "sourceNamespace": "olm"},
        }
        for name in packages
    )
    catalog = Catalog(KEY, content=MemoryReader(given))
    return Namespace("ns", "olm", (GROUP,), subscriptions, (), (catalog,))


def solved(given: Iterable[Entry], packages: Iterable[str]) -> Resolution | tuple[str, ...]:
    try:
        return resolve(namespace(given, packages), Limit(lambda: 0.0))
    except UnsatisfiableError as error:
        return error.texts


def meets(chosen: Iterable[Entry], subscribed: Iterable[str]) -> bool:
    """By a plain look at the set: independent of the solver."""
    bundles = list(chosen)
    packages = [each.package for each in bundles]
    provided = [kind for each in bundles for kind in kinds(each, "olm.gvk")]
    required = {kind for each in bundles for kind in kinds(each, "olm.gvk.required")}
    return (
        len(packages) == len(set(packages))
        and len(provided) == len(set(provided))
        and required <= set(provided)
        and set(subscribed) <= set(packages)
    )


def kinds(entry: Entry, type_: str) -> list[str]:
    return [each["value"]["kind"] for each in entry.properties if each["type"] == type_]


@given(WORLDS, st.integers(1, 2))
def test_an_answer_meets_all_constraints_and_no_answer_is_none(
    world: list[list[tuple[list[str], list[str]]]], wanted: int
) -> None:
    all_entries = entries(world)
    packages = sorted({each.package for each in all_entries})[:wanted]
    answer = solved(all_entries, packages)
    if isinstance(answer, Resolution):
        assert meets([each.entry for each in answer.chosen], packages)
        return
    of_package = itertools.groupby(all_entries, key=lambda each: each.package)
    options = [[None, *group] for _, group in of_package]
    for combination in itertools.product(*options):
        assert not meets([each for each in combination if each is not None], packages)


@given(WORLDS, st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_matter(
    world: list[list[tuple[list[str], list[str]]]], rng: random.Random
) -> None:
    ordered = entries(world)
    packages = sorted({each.package for each in ordered})[:2]
    shuffled, subscribed = list(ordered), list(packages)
    rng.shuffle(shuffled)
    rng.shuffle(subscribed)
    assert solved(shuffled, subscribed) == solved(ordered, packages)


@given(WORLDS, st.integers(1, 2))
def test_with_the_change_that_is_named_the_namespace_resolves(
    world: list[list[tuple[list[str], list[str]]]], wanted: int
) -> None:
    all_entries = entries(world)
    asked = namespace(all_entries, sorted({each.package for each in all_entries})[:wanted])
    limit = Limit(lambda: 0.0)
    try:
        resolve(asked, limit)
    except UnsatisfiableError as error:
        change = explain(asked, error, limit, Dialect.DOCUMENTS).change
        assert change is not None  # each Subscription may be deleted
        resolve(change.after(asked), limit)
