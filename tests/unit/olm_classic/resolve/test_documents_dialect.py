"""Where the documents of OLM Classic differ from upstream, each dialect has its own answer."""

from typing import Any

import pytest

from api.objects import KubeObject
from olm_classic.dialect import Dialect
from olm_classic.resolve import Entry, Limit, Namespace, Resolution, ResolutionError, resolve
from tests.unit.olm_classic.resolve.test_explain import (
    MIRROR,
    PUBLIC,
    bundle,
    csv,
    namespace,
    subscription,
)

DOCUMENTS, UPSTREAM = Dialect.DOCUMENTS, Dialect.UPSTREAM
BLUE = {"package": {"name": "blue", "versionRange": ">=1.0.0"}}
GREEN = {"gvk": {"group": "greens.example.com", "version": "v1", "kind": "Green"}}


def solved(given: Namespace, dialect: Dialect = DOCUMENTS) -> Resolution:
    return resolve(given, Limit(lambda: 0.0), dialect)


def names(found: Resolution) -> list[str]:
    return [each.entry.name for each in found.chosen]


def needing(constraint: dict[str, Any]) -> Entry:
    return bundle("red", "1.0.0", {"type": "olm.constraint", "value": constraint})


def green(version: str = "v1") -> dict[str, Any]:
    return {"type": "olm.gvk", "value": {**GREEN["gvk"], "version": version}}


def red(constraint: dict[str, Any], *others: Entry) -> Namespace:
    return namespace([subscription("red")], needing(constraint), *others)


def test_all_is_met_by_several_bundles() -> None:
    upstream = {
        "all": {
            "constraints": [{"package": {"packageName": "blue", "versionRange": ">=1.0.0"}}, GREEN]
        }
    }
    others = bundle("blue", "1.2.0"), bundle("lawn", "1.0.0", green())
    assert names(solved(red(upstream, *others))) == ["blue.v1.2.0", "lawn.v1.0.0", "red.v1.0.0"]
    with pytest.raises(ResolutionError, match=" and providing an API"):
        solved(red(upstream, *others), UPSTREAM)


def test_any_takes_the_preferred_of_all_that_meet_one_of_them() -> None:
    constraint = {"any": {"constraints": [BLUE, GREEN]}}
    assert names(solved(red(constraint, bundle("lawn", "1.0.0", green())))) == [
        "lawn.v1.0.0",
        "red.v1.0.0",
    ]


def test_not_keeps_a_bundle_out_of_the_result() -> None:
    forbidden = {"not": {"constraints": [{"gvk": {**GREEN["gvk"], "version": "v1alpha1"}}]}}
    constraint = {"all": {"constraints": [BLUE, forbidden]}}
    newer = bundle("blue", "1.1.0", green("v1alpha1"), channel="alpha")
    older = bundle("blue", "1.0.0")
    assert names(solved(red(constraint, newer, older))) == ["blue.v1.0.0", "red.v1.0.0"]
    with pytest.raises(ResolutionError, match="there is no operator providing an API"):
        solved(red(constraint, newer))


def test_not_also_counts_what_is_installed_and_asked_for() -> None:
    given = namespace(
        [subscription("red"), subscription("lawn")],
        needing({"not": {"constraints": [GREEN]}}),
        bundle("lawn", "1.0.0", green()),
    )
    with pytest.raises(ResolutionError, match="there is no operator providing an API"):
        solved(given)
    installed = namespace(
        [subscription("red")],
        needing({"not": {"constraints": [GREEN]}}),
        csvs=(csv("g.v1", green()),),
    )
    with pytest.raises(ResolutionError, match="there is no operator providing an API"):
        solved(installed)


def test_of_several_under_not_none_may_be_there() -> None:
    constraint = {"not": {"constraints": [GREEN, BLUE]}}
    given = namespace(
        [subscription("red"), subscription("blue")], needing(constraint), bundle("blue", "1.0.0")
    )
    with pytest.raises(ResolutionError, match="no operator with package: blue"):
        solved(given)


def test_nested_constraints_are_taken_from_the_bottom_up() -> None:
    """The example of the documents: a new API of a new version, or the old API of an old one."""

    def way(versions: str, api: str) -> dict[str, Any]:
        package = {"package": {"name": "blue", "versionRange": versions}}
        return {"all": {"constraints": [package, {"gvk": {**GREEN["gvk"], "version": api}}]}}

    constraint = {"any": {"constraints": [way(">=1.0.0", "v1"), way("<1.0.0", "v1beta1")]}}
    old, new = bundle("blue", "0.9.0", green("v1beta1")), bundle("blue", "1.0.0", green("v1"))
    odd = bundle("blue", "1.0.0", green("v1beta1"))
    assert names(solved(red(constraint, new))) == ["blue.v1.0.0", "red.v1.0.0"]
    assert names(solved(red(constraint, old))) == ["blue.v0.9.0", "red.v1.0.0"]
    with pytest.raises(ResolutionError):
        solved(red(constraint, odd))


def test_not_of_not_is_a_requirement() -> None:
    twice = {"not": {"constraints": [{"not": {"constraints": [BLUE]}}]}}
    assert names(solved(red(twice, bundle("blue", "1.0.0")))) == ["blue.v1.0.0", "red.v1.0.0"]
    either = {"not": {"constraints": [{"all": {"constraints": [BLUE, GREEN]}}]}}
    given = namespace(
        [subscription("red"), subscription("blue")], needing(either), bundle("blue", "1.0.0")
    )
    assert names(solved(given)) == ["blue.v1.0.0", "red.v1.0.0"]


def test_the_message_of_every_kind_is_shown() -> None:
    constraint = {
        "failureMessage": "All are required for Red",
        "all": {"constraints": [{"failureMessage": "Package blue is needed", **BLUE}]},
    }
    with pytest.raises(ResolutionError, match='and message: "Package blue is needed"'):
        solved(red(constraint))
    either = {"failureMessage": "One is needed", "any": {"constraints": [BLUE, GREEN]}}
    with pytest.raises(ResolutionError, match='and message: "One is needed"'):
        solved(red(either))


def test_packages_may_be_given_by_name() -> None:
    assert names(solved(red(BLUE, bundle("blue", "1.0.0")))) == ["blue.v1.0.0", "red.v1.0.0"]
    with pytest.raises(ResolutionError, match='unknown field "name"'):
        solved(red(BLUE, bundle("blue", "1.0.0")), UPSTREAM)


def test_constraints_have_at_most_64_kilobytes() -> None:
    long = {"failureMessage": "x" * (64 << 10), "gvk": GREEN["gvk"]}
    with pytest.raises(ResolutionError, match="65536 bytes"):
        solved(red(long))
    assert names(solved(red(long, bundle("lawn", "1.0.0", green())), UPSTREAM))


def installed(given: KubeObject, name: str) -> KubeObject:
    return {**given, "status": {"installedCSV": name, "currentCSV": name}}


def update(name: str, version: str, replaces: str, **place: Any) -> Entry:
    made = bundle(name, version, **place)
    object.__setattr__(made, "replaces", replaces)
    return made


def of_package(name: str, version: str) -> KubeObject:
    value = {"packageName": name, "version": version}
    return csv(f"{name}.v{version}", {"type": "olm.package", "value": value})


def test_an_update_may_come_from_another_visible_catalog() -> None:
    given = namespace(
        [installed(subscription("a", channel="stable"), "a.v1.0.0")],
        bundle("a", "1.0.0"),
        update("a", "1.1.0", "a.v1.0.0", at=MIRROR),
        csvs=(of_package("a", "1.0.0"),),
    )
    found = solved(given)
    assert [(e.entry.name, e.entry.source, e.replaces) for e in found.planned] == [
        ("a.v1.1.0", MIRROR, "a.v1.0.0")
    ]
    assert found.updated == (("a", "a.v1.1.0"),)
    assert not found.generated
    assert not solved(given, UPSTREAM).planned


def test_an_update_of_the_named_catalog_goes_first() -> None:
    given = namespace(
        [installed(subscription("a", channel="stable"), "a.v1.0.0")],
        update("a", "1.0.1", "a.v1.0.0"),
        update("a", "1.1.0", "a.v1.0.0", at=MIRROR),
        csvs=(of_package("a", "1.0.0"),),
    )
    assert [(e.entry.name, e.entry.source) for e in solved(given).planned] == [("a.v1.0.1", PUBLIC)]


def test_an_update_elsewhere_is_of_the_same_channel() -> None:
    given = namespace(
        [installed(subscription("a", channel="stable"), "a.v1.0.0")],
        bundle("a", "1.0.0"),
        update("a", "1.1.0", "a.v1.0.0", at=MIRROR, channel="alpha"),
        csvs=(of_package("a", "1.0.0"),),
    )
    assert not solved(given).planned


def test_a_left_over_csv_is_taken_up_by_a_new_subscription() -> None:
    given = namespace(
        [subscription("a")],
        bundle("a", "1.0.0", channel="stable"),
        csvs=(of_package("a", "1.0.0"),),
    )
    found = solved(given)
    assert not found.planned
    assert found.adopted == (("a", "a.v1.0.0"),)
    with pytest.raises(ResolutionError, match="is not referenced by a subscription"):
        solved(given, UPSTREAM)


def test_an_api_that_is_listed_twice_counts_once() -> None:
    given = namespace([subscription("lawn")], bundle("lawn", "1.0.0", green(), green()))
    assert names(solved(given)) == ["lawn.v1.0.0"]
    with pytest.raises(ResolutionError, match=r"provide Green \(greens.example.com/v1\)"):
        solved(given, UPSTREAM)
