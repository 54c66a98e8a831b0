"""What a user's InstallPlan names is chosen with what it takes (documents of OLM 4.3, 2.1.4.2)."""

from dataclasses import replace
from typing import Any

import pytest

from api.objects import KubeObject
from olm_classic.dialect import Dialect
from olm_classic.resolve import (
    Entry,
    Limit,
    Namespace,
    Resolution,
    ResolutionError,
    SourceKey,
    Wanted,
    resolve,
)
from olm_classic.resolve.explain import explain
from tests.unit.olm_classic.resolve.test_explain import MIRROR, PUBLIC, bundle, csv, namespace

LIMIT = Limit(lambda: 0.0)
GREEN = {"group": "greens.example.com", "version": "v1", "kind": "Green"}
PROVIDES, REQUIRES = ({"type": kind, "value": GREEN} for kind in ("olm.gvk", "olm.gvk.required"))


def asking(*names: str, given: Namespace, source: SourceKey | None = None) -> Namespace:
    wanted = Wanted(names, source) if source else Wanted(names)
    return replace(given, wanted=wanted)


def planned(given: Namespace) -> dict[str, str]:
    """The bundles of the plan, each with what it replaces."""
    found: Resolution = resolve(given, LIMIT, Dialect.DOCUMENTS)
    assert found.updated == ()
    return {each.entry.name: each.replaces for each in found.planned}


def versions(package: str, *numbers: str, **place: Any) -> list[Entry]:
    """A channel in which each version replaces the one before."""
    found: list[Entry] = []
    for number in numbers:
        entry = bundle(package, number, **place)
        found.append(replace(entry, replaces=found[-1].name if found else ""))
    return found


def installed(package: str, version: str) -> KubeObject:
    value = {"packageName": package, "version": version}
    return csv(f"{package}.v{version}", {"type": "olm.package", "value": value})


def test_it_need_not_be_the_head_of_its_channel() -> None:
    given = namespace([], *versions("red", "1.0.0", "1.1.0", "1.2.0"))
    assert planned(asking("red.v1.1.0", given=given)) == {"red.v1.1.0": "red.v1.0.0"}


def test_what_it_requires_comes_along() -> None:
    given = namespace([], bundle("red", "1.0.0", REQUIRES), bundle("lawn", "1.0.0", PROVIDES))
    assert planned(asking("red.v1.0.0", given=given)) == {"red.v1.0.0": "", "lawn.v1.0.0": ""}


def test_several_at_once_and_one_that_is_there() -> None:
    given = namespace(
        [], bundle("red", "1.0.0"), bundle("blue", "1.0.0"), csvs=(installed("blue", "1.0.0"),)
    )
    assert planned(asking("red.v1.0.0", "blue.v1.0.0", given=given)) == {"red.v1.0.0": ""}
    assert planned(asking("blue.v1.0.0", given=given)) == {}


def test_an_update_replaces_what_is_installed() -> None:
    entries = versions("red", "1.0.0", "1.1.0", "1.2.0")
    given = namespace([], *entries, csvs=(installed("red", "1.0.0"),))
    assert planned(asking("red.v1.1.0", given=given)) == {"red.v1.1.0": "red.v1.0.0"}
    with pytest.raises(ResolutionError, match="originate from package red"):
        planned(asking("red.v1.2.0", given=given))


@pytest.mark.parametrize(("source", "catalog"), [(None, MIRROR), (PUBLIC, PUBLIC)])
def test_the_named_catalog_else_the_preferred_one(
    source: SourceKey | None, catalog: SourceKey
) -> None:
    given = namespace([], bundle("red", "1.0.0"), bundle("red", "1.0.0", at=MIRROR))
    found = resolve(asking("red.v1.0.0", given=given, source=source), LIMIT, Dialect.DOCUMENTS)
    assert [each.entry.source for each in found.planned] == [catalog]


def test_the_default_channel_is_preferred() -> None:
    given = namespace(
        [], *(bundle("red", "1.0.0", channel=each) for each in ("alpha", "stable", "zeta"))
    )
    found = resolve(asking("red.v1.0.0", given=given), LIMIT, Dialect.DOCUMENTS)
    assert [each.entry.channel for each in found.planned] == ["stable"]


def test_a_name_that_no_catalog_has_is_reported() -> None:
    given = asking("red.v9.0.0", given=namespace([], bundle("red", "1.0.0")))
    with pytest.raises(ResolutionError) as raised:
        resolve(given, LIMIT, Dialect.DOCUMENTS)
    said = "no operators found with name red.v9.0.0 in a visible catalog"
    assert said in raised.value.message
    assert explain(given, raised.value, LIMIT, Dialect.DOCUMENTS).causes == (said,)
