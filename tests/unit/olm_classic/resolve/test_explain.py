"""What is shown of a namespace that does not resolve, and the change that is named."""

from typing import Any

import pytest

from api.objects import KubeObject
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
from olm_classic.resolve.entries import tolerant_version
from olm_classic.resolve.explain import Explanation, explain

ISSUER = {"group": "cert-manager.io", "version": "v1", "kind": "Issuer"}
MIRROR = SourceKey("mirror", "ns")
PUBLIC = SourceKey("public", "olm")


def bundle(
    package: str,
    version: str,
    *more: dict[str, Any],
    channel: str = "stable",
    at: SourceKey = PUBLIC,
) -> Entry:
    value = {"packageName": package, "version": version}
    return Entry(
        f"{package}.v{version}", at, package, channel, version=tolerant_version(version),
        default_channel="stable", properties=({"type": "olm.package", "value": value}, *more),
    )  # fmt: skip


def subscription(package: str, **spec: str) -> KubeObject:
    source = {"source": "public", "sourceNamespace": "olm"}
    return {"metadata": {"name": package}, "spec": {"name": package, **source, **spec}}


def namespace(
    subscriptions: list[KubeObject],
    *entries: Entry,
    csvs: tuple[KubeObject, ...] = (),
    problem: str = "",
    annotations: dict[str, str] | None = None,
) -> Namespace:
    keys = dict.fromkeys([PUBLIC, *(each.source for each in entries)])
    catalogs = tuple(
        Catalog(key, 0, MemoryReader(each for each in entries if each.source == key), problem)
        for key in keys
    )
    group = {"metadata": {"name": "og", "annotations": annotations or {}}, "spec": {}}
    return Namespace("ns", "olm", (group,), tuple(subscriptions), csvs, catalogs)


def explained(given: Namespace, dialect: Dialect = Dialect.DOCUMENTS) -> Explanation:
    limit = Limit(lambda: 0.0)
    with pytest.raises(ResolutionError) as raised:
        resolve(given, limit, dialect)
    found = explain(given, raised.value, limit, dialect)
    if found.change:
        resolve(found.change.after(given), limit, dialect)
    return found


def change(given: Namespace) -> tuple[str, str]:
    found = explained(given).change
    assert found is not None
    return found.text, found.command


def csv(name: str, *properties: dict[str, Any]) -> KubeObject:
    import json

    noted = json.dumps({"properties": properties})
    return {
        "metadata": {"name": name, "annotations": {"operatorframework.io/properties": noted}},
        "spec": {"version": name.partition(".v")[2]},
        "status": {"phase": "Succeeded"},
    }


def test_a_channel_that_is_not_there() -> None:
    text, command = change(namespace([subscription("a", channel="gone")], bundle("a", "1.0.0")))
    assert text == "set spec.channel to stable in subscription a"
    assert command == (
        "kubectl patch subscription.operators.coreos.com a -n ns --type=merge "
        """-p '{"spec":{"channel":"stable"}}'"""
    )


def test_a_starting_csv_that_is_not_there() -> None:
    text, _ = change(namespace([subscription("a", startingCSV="a.v9")], bundle("a", "1.0.0")))
    assert text == "remove spec.startingCSV of subscription a"


def test_a_package_that_another_catalog_has() -> None:
    text, _ = change(
        namespace([subscription("a")], bundle("a", "1.0.0", at=MIRROR), bundle("zzz", "1.0.0"))
    )
    assert text == (
        "set spec.source and spec.sourceNamespace to catalog ns/mirror in subscription a"
    )


def test_a_package_whose_name_is_nearly_right() -> None:
    given = namespace([subscription("etdc")], bundle("etcd", "1.0.0"))
    assert change(given)[0] == "set spec.name to etcd in subscription etdc"


def test_all_that_a_bundle_lacks_is_named_at_once() -> None:
    needs = {"type": "olm.gvk.required", "value": ISSUER}
    also = {
        "type": "olm.package.required",
        "value": {"packageName": "db", "versionRange": ">2.0.0"},
    }
    found = explained(namespace([subscription("a")], bundle("a", "1.0.0", needs, also)))
    assert found.change is not None
    assert found.change.text == (
        "add a catalog that has API Issuer (cert-manager.io/v1) and package db in range >2.0.0"
    )
    assert found.causes[0] in {
        "a.v1.0.0 needs API Issuer (cert-manager.io/v1), which no visible catalog has",
        "a.v1.0.0 needs package db in range >2.0.0, which no visible catalog has",
    }


def test_bundles_that_lack_the_same_are_shown_together() -> None:
    needs = {"type": "olm.gvk.required", "value": ISSUER}
    old, new = bundle("a", "1.9.0", needs), bundle("a", "1.10.0", needs, channel="fast")
    assert explained(namespace([subscription("a")], old, new)).causes[0] == (
        "a.v1.10.0 and 1 other bundle need API Issuer (cert-manager.io/v1), which no visible "
        "catalog has"
    )


def test_each_of_two_troubles_has_its_change() -> None:
    needs = {"type": "olm.gvk.required", "value": ISSUER}
    given = namespace([subscription("a"), subscription("gone")], bundle("a", "1.0.0", needs))
    assert change(given)[0] == (
        "add a catalog that has API Issuer (cert-manager.io/v1), and delete subscription gone"
    )


def test_global_catalogs_that_are_excluded() -> None:
    exclude = "olm.operatorframework.io/exclude-global-namespace-resolution"
    given = namespace([subscription("a")], bundle("a", "1.0.0"), annotations={exclude: "true"})
    assert change(given) == (
        f"remove annotation {exclude} of operatorgroup og",
        f"kubectl annotate operatorgroup og -n ns {exclude}-",
    )


def test_a_catalog_that_cannot_be_asked() -> None:
    given = namespace([subscription("a")], bundle("a", "1.0.0"), problem="no registry client")
    assert "exclude-global-namespace-resolution" in change(given)[0]


def test_an_installed_csv_in_the_way() -> None:
    provides = {"type": "olm.gvk", "value": ISSUER}
    given = namespace(
        [subscription("a")], bundle("a", "1.0.0", provides), csvs=(csv("old.v1.0.0", provides),)
    )
    found = explained(given)
    assert found.change is not None
    assert found.change.text == "delete clusterserviceversion old.v1.0.0"
    assert (
        "old.v1.0.0 is installed, and no subscription has it as its own, so that it has to stay "
        "as it is"
    ) in found.causes
    assert any("provide API Issuer (cert-manager.io/v1)" in each for each in found.causes)


def test_a_requirement_that_cannot_be_read_is_reported_with_its_bundle() -> None:
    bogus = {"type": "olm.package.required", "value": {"packageName": "x", "versionRange": "bogus"}}
    found = explained(namespace([subscription("a")], bundle("a", "1.0.0", bogus)))
    assert found.causes == (
        "the requirement that cannot be read is of bundle public/olm/stable/a.v1.0.0",
    )
    assert found.text().endswith("; to resolve: delete subscription a")


def test_two_changes_where_one_does_not_do() -> None:
    given = namespace(
        [subscription("a", channel="gone"), subscription("b", channel="gone")],
        bundle("a", "1.0.0"), bundle("b", "1.0.0"),
    )  # fmt: skip
    text, command = change(given)
    assert sorted(text.split(", and ")) == [
        "set spec.channel to stable in subscription a",
        "set spec.channel to stable in subscription b",
    ]
    assert " && " in command


def test_many_causes_are_counted() -> None:
    needs = [
        {"type": "olm.gvk.required", "value": {**ISSUER, "kind": f"K{number}"}}
        for number in range(3)
    ]
    entries = [bundle(f"p{n}", "1.0.0", *needs) for n in range(3)]
    text = Explanation(tuple(map(str, range(9))), None).text()
    assert text == "0; 1; 2; 3; and 5 more like these"
    assert explained(namespace([subscription("p0")], *entries)).change is not None
