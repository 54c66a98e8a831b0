"""What the options of a command say, as the spec of a ClusterExtension."""

from typing import Any

import pytest

from api.olm.v1.clusterextension import ClusterExtension
from olm_client.lifecycle.spec_fields import (
    SpecFields,
    differences,
    new_extension,
    of_catalog,
    parse_selector,
    with_changed_spec,
    with_fields,
)
from olm_content.selectors import selects
from olm_runtime.errors import TerminalError

FULL = SpecFields(
    version=">=1 <2",
    channels=("stable", "fast"),
    selector=of_catalog("demo"),
    policy="SelfCertified",
    crd_safety="None",
    config={"watchNamespace": "apps"},
    deadline_minutes=15,
)


def test_options_become_fields_of_the_spec() -> None:
    spec = ClusterExtension.from_object(new_extension("op", "ext", "ns", "sa", FULL)).spec
    desired = spec.source.catalog
    assert (spec.namespace, spec.service_account_name) == ("ns", "sa")
    assert (desired.package_name, desired.version) == ("op", ">=1 <2")
    assert desired.channels == ("stable", "fast")
    assert desired.upgrade_constraint_policy == "SelfCertified"
    assert selects(desired.selector, {"olm.operatorframework.io/metadata.name": "demo"})
    assert not spec.crd_upgrade_safety_enforced
    assert spec.config is not None
    assert spec.config.inline == {"watchNamespace": "apps"}
    assert spec.progress_deadline_minutes == 15


def test_options_that_are_not_given_set_nothing() -> None:
    spec = new_extension("op", "ext", "ns", "sa", SpecFields())["spec"]
    assert spec == {
        "namespace": "ns",
        "serviceAccount": {"name": "sa"},
        "source": {"sourceType": "Catalog", "catalog": {"packageName": "op"}},
    }


def test_given_fields_are_set_in_a_copy() -> None:
    raw = new_extension("op", "ext", "ns", "sa", SpecFields(version="1.0.0", config={"a": 1}))
    raw["metadata"]["generation"] = 4
    safety = {"preflight": {"crdUpgradeSafety": {"disabled": True}}}
    raw["spec"]["install"] = safety
    changed = with_changed_spec(raw, SpecFields(version="2.0.0", crd_safety="Strict"))
    assert changed["metadata"]["generation"] == 5
    assert [*differences(raw["spec"], changed["spec"], "spec")] == [
        ("spec.install.preflight.crdUpgradeSafety.disabled", True, None),
        ("spec.install.preflight.crdUpgradeSafety.enforcement", None, "Strict"),
        ("spec.source.catalog.version", "1.0.0", "2.0.0"),
    ]
    assert raw["spec"]["install"] is safety
    assert with_changed_spec(raw, SpecFields()) is raw
    assert with_fields(raw["spec"], SpecFields()) == raw["spec"]


LABELS = {"env": "prod", "tier": ""}


@pytest.mark.parametrize(
    ("text", "selected"),
    [
        ("env=prod", True),
        ("env==prod,tier=", True),
        ("env=test", False),
        ("env!=test", True),
        ("absent!=x", True),
        ("env in (prod, test)", True),
        ("env in (test),tier", False),
        ("env notin (test,dev), !absent", True),
        ("tier, env", True),
        ("!env", False),
    ],
)
def test_selectors_mean_what_they_mean_to_kubectl(text: str, selected: bool) -> None:
    fields = SpecFields(selector=parse_selector(text))
    extension = ClusterExtension.from_object(new_extension("op", "e", "ns", "sa", fields))
    assert selects(extension.spec.source.catalog.selector, LABELS) is selected


@pytest.mark.parametrize(
    "text", ["", "a=b,", "a in b", "!a=b", "a b", "a=b=c", "in (x)", "a in (b"]
)
def test_what_is_no_selector_is_refused(text: str) -> None:
    with pytest.raises(TerminalError, match="is no requirement of a label selector"):
        parse_selector(text)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": {"b": 1}}, {"a": {"c": 2}}, [("a.b", 1, None), ("a.c", None, 2)]),
        ({"a": [1]}, {"a": [2]}, [("a", [1], [2])]),
        ({"a": {"b": 1}}, {}, [("a", {"b": 1}, None)]),
    ],
)
def test_differences_are_reported_by_path(old: Any, new: Any, found: list[Any]) -> None:
    assert [*differences(old, new)] == found
