"""Hostile catalogs: a resolution ends at its limit, with an error that says so."""

import itertools
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from olm_classic.dialect import Dialect
from olm_classic.resolve import (
    Catalog,
    Entry,
    Limit,
    MemoryReader,
    Namespace,
    ResolutionError,
    SourceKey,
    resolve,
)

KEY = SourceKey("cat", "olm")


def bundle(package: str, minor: int, *properties: Mapping[str, object]) -> Entry:
    return Entry(
        f"{package}.v{minor}",
        KEY,
        package,
        "stable",
        f"{package}.v{minor - 1}" if minor else "",
        properties=(
            {"type": "olm.package", "value": {"packageName": package, "version": f"1.{minor}.0"}},
            *properties,
        ),
    )


def namespace(entries: list[Entry]) -> Namespace:
    subscriptions = tuple(
        {
            "metadata": {"name": name},
            "spec": {"name": name, "source": "cat", "sourceNamespace": "olm"},
        }
        for name in sorted({each.package for each in entries})
    )
    groups = ({"metadata": {"name": "og"}, "spec": {}},)
    return Namespace(
        "ns", "olm", groups, subscriptions, (), (Catalog(KEY, 0, MemoryReader(entries)),)
    )


def pigeons(holes: int) -> list[Entry]:
    """One package more than APIs, each of which one may provide: hard for every solver."""
    return [
        bundle(f"p{number}", api, {"type": "olm.gvk", "value": {"group": "g", "kind": f"K{api}"}})
        for number in range(holes + 1)
        for api in range(holes)
    ]


def test_a_search_without_end_stops_at_the_limit() -> None:
    ticks = itertools.count()  # every look at the clock is a second
    limit = Limit(lambda: float(next(ticks)), seconds=30)
    with pytest.raises(ResolutionError, match="took longer than 30 seconds"):
        resolve(namespace(pigeons(14)), limit)


def test_too_many_bundles_are_refused() -> None:
    entries = [bundle("a", minor) for minor in range(20)]
    with pytest.raises(ResolutionError, match="more than 10 bundles"):
        resolve(namespace(entries), Limit(lambda: 0.0, variables=10))


def test_a_rule_of_very_many_steps_is_as_one_that_fails() -> None:
    rule = "".join(f"properties.all({name}, " for name in "abcdefgh") + "true" + ")" * 8
    many = ({"type": "x", "value": number} for number in range(100))
    cel = {"type": "olm.constraint", "value": {"cel": {"rule": rule}}}
    with pytest.raises(ResolutionError, match="requires an operator with constraint"):
        resolve(namespace([bundle("a", 0, *many, cel)]), Limit(lambda: 0.0))


@pytest.mark.parametrize("kind", ["olm.constraint", "olm.gvk.required"])
def test_values_without_a_bottom(kind: str) -> None:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ResolutionError, match="nested too deep"):
        resolve(namespace([bundle("a", 0, {"type": kind, "value": value})]), Limit(lambda: 0.0))


def test_the_faults_of_several_subscriptions_are_reported_together() -> None:
    empty = {"type": "olm.constraint", "value": {}}
    bogus = {"type": "olm.package.required", "value": {"packageName": "x", "versionRange": "bogus"}}
    with pytest.raises(ResolutionError) as raised:
        resolve(namespace([bundle("a", 0, empty), bundle("b", 0, bogus)]), Limit(lambda: 0.0))
    assert raised.value.message == (
        "[convert olm.constraint to resolver predicate: constraint is empty, "
        'Could not get version from string: "bogus"]'
    )


def test_without_the_library_of_cel_the_rest_resolves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cel_expr_python", None)
    rule = {"type": "olm.constraint", "value": {"cel": {"rule": "true || 'no library' == ''"}}}
    with pytest.raises(ResolutionError, match="cel-expr-python is not installed"):
        resolve(namespace([bundle("a", 0, rule)]), Limit(lambda: 0.0))
    assert resolve(namespace([bundle("a", 0)]), Limit(lambda: 0.0)).planned


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("kind", ["all", "any", "not"])
def test_constraints_in_constraints(dialect: Dialect, kind: str) -> None:
    value: dict[str, Any] = {"gvk": {"group": "g", "version": "", "kind": "K"}}
    for _ in range(30):  # twice as many levels of JSON
        value = {kind: {"constraints": [value]}}
    gvk = {"type": "olm.gvk", "value": {"group": "g", "kind": "K"}}
    nested = {"type": "olm.constraint", "value": value}
    asked = namespace([bundle("a", 0, nested), bundle("b", 0, gvk)])
    assert len(resolve(asked, Limit(lambda: 0.0), dialect).planned) == 2
    for _ in range(60):
        value = {kind: {"constraints": [value]}}
    with pytest.raises(ResolutionError, match="nested more than 64 deep"):
        resolve(
            namespace([bundle("a", 0, {**nested, "value": value})]), Limit(lambda: 0.0), dialect
        )
