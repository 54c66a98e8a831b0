"""The condition Upgradeable and the risks behind it."""

from typing import Any

import pytest

from cluster_version.decisions.admin_gates import known_data
from cluster_version.decisions.risk import DOCUMENTATION, Risk
from cluster_version.decisions.upgradeable import (
    Cluster,
    Found,
    own_risks,
    upgradeable,
)
from cluster_version.names import DELETE

Json = dict[str, Any]


def cluster_version(
    version: str = "4.5.3", *, progressing: bool = False, overrides: bool = False
) -> Json:
    return {
        "spec": {"overrides": [{"name": "d", "unmanaged": overrides}]},
        "status": {
            "desired": {"version": version},
            "conditions": [{"type": "Progressing", "status": str(progressing)}],
        },
    }


def operator(name: str, status: str, message: str = "") -> Json:
    condition = {"type": "Upgradeable", "status": status, "message": message}
    return {"metadata": {"name": name}, "status": {"conditions": [condition]}}


def cluster(given: Json | None = None, *, version: str = "4.5.3", **more: Any) -> Cluster:
    settings = {"gates": {}, "acks": {}, **more}
    return Cluster(cluster_version=given or cluster_version(version), version=version, **settings)


def messages_of(found: Found) -> list[tuple[str, str]]:
    return [(risk.name, risk.message) for risk in found.risks]


def test_nothing_speaks_against_updates_of_a_cluster_at_rest() -> None:
    found = own_risks(cluster(operators=[operator("etcd", "True"), {"metadata": {"name": "a"}}]))
    assert found == Found()
    assert upgradeable(found) is None


def test_sources_follow_each_other() -> None:
    found = own_risks(
        cluster(
            cluster_version(progressing=True, overrides=True),
            operators=[operator("b", "False", "not b"), operator("a", "False", "not a")],
            gates={"ack-4.5-x": "do it"},
            deletions=["Job b", "Job a"],
        )
    )
    assert [risk.name for risk in found.risks] == [
        "ClusterVersionUpdating",
        "ClusterVersionOverrides",
        "ResourceDeletionInProgress",
        "AdminAck-ack-4.5-x",
        "ClusterOperatorUpgradeable-a",
        "ClusterOperatorUpgradeable-b",
    ]
    assert found.risks[2].message.endswith("; resources=Job a,Job b")
    condition = upgradeable(found)
    assert condition is not None
    assert condition.reason == "MultipleReasons"
    assert condition.message.splitlines()[-2:] == ["* not a", "* not b"]


def test_risks_are_of_later_minor_versions() -> None:
    found = own_risks(cluster(operators=[operator("a", "False")]))
    versions = ["4.5.4", "4.6.0-rc.0", "5.0.0", "4.4.9", "3.9.0", "custom"]
    assert found.concerned(versions) == {
        "ClusterOperatorUpgradeable-a": ["4.6.0-rc.0", "5.0.0", "custom"]
    }
    assert found.concerned(["4.5.4"]) == {}


@pytest.mark.parametrize(
    ("gate", "text", "ack", "message"),
    [
        ("ack-4.5-x", "do it", "true", None),
        ("ack-4.5-x", "do it", "True", "do it"),
        ("ack-4.5-x", "do it", None, "do it"),
        ("ack-4.6-x", "do it", None, None),
        ("ack-5.5-x", "do it", None, None),
        (
            "ack-4.5-x",
            "",
            "true",
            "admin-gates configmap gate ack-4.5-x must contain a non-empty value.",
        ),
        (
            "ack-4.5--x",
            "do it",
            "true",
            (
                'admin-gates configmap gate "ack-4.5--x" is invalid: admin-gates configmap gate '
                "name ack-4.5--x has invalid format; must comply with "
                '"^ack-([4-5][.][0-9]{1,})-[^-]"'
            ),
        ),
        (
            "ack-4.05-x",
            "do it",
            "true",
            (
                'admin-gates configmap gate "ack-4.05-x" is invalid: failed to parse SemVer ack '
                'version from admin-gate "ack-4.05-x": Minor number must not contain leading '
                'zeroes "05"'
            ),
        ),
    ],
)
def test_gates_are_acknowledged_by_true(
    gate: str, text: str, ack: str | None, message: str | None
) -> None:
    acks = {} if ack is None else {gate: ack}
    found = own_risks(cluster(gates={gate: text}, acks=acks))
    assert messages_of(found) == ([(f"AdminAck-{gate}", message)] if message else [])


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("See https://a.example/b?c=d for more, or https://b.example", "https://a.example/b?c=d"),
        ("See (https://a.example/b).", "https://a.example/b"),
        ("See http://a.example", DOCUMENTATION),
    ],
)
def test_a_gate_leads_to_the_address_in_its_text(text: str, url: str) -> None:
    (risk,) = own_risks(cluster(gates={"ack-4.5-x": text})).risks
    assert risk.url == url


@pytest.mark.parametrize(
    ("missing", "problem"),
    [
        ("gates", "admin-gates from namespace openshift-config-managed"),
        ("acks", "admin-acks from namespace openshift-config"),
    ],
)
def test_without_the_config_maps_minor_updates_are_held_back(missing: str, problem: str) -> None:
    without: Json = {missing: None}
    found = own_risks(cluster(**without))
    name = f"admin-{missing}"
    assert messages_of(found) == [
        (
            "AdminAckUnknown",
            f'Failed to retrieve ConfigMap {problem}: configmap "{name}" not found',
        )
    ]
    assert found.problems == (f'configmap "{name}" not found',)
    assert found.concerned(["4.5.4", "4.6.0"]) == {"AdminAckUnknown": ["4.6.0"]}


def test_a_config_map_that_no_release_brings_is_not_missing() -> None:
    place = "admin-gates", "openshift-config-managed"

    def manifest(name: str, **annotations: str) -> Json:
        meta = {"name": name, "namespace": place[1], "annotations": annotations}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}

    brought = manifest(place[0])
    others = [manifest("other"), manifest(place[0], **{DELETE: "true"})]
    assert known_data(place, None, others) == {}
    assert known_data(place, None, [*others, brought]) is None
    assert known_data(place, brought, [brought]) == {}
    assert known_data(place, brought | {"data": {"a": "b"}}, others) == {"a": "b"}


def test_a_version_that_is_none_holds_back_all_updates() -> None:
    given = cluster_version("custom", progressing=True)
    found = own_risks(cluster(given, version="custom", deletions=["Job a"]))
    assert [risk.name for risk in found.risks] == [
        "ResourceDeletionInProgressUnknown",
        "AdminAckUnknown",
        "ClusterOperatorUpgradeableUnknown",
    ]
    assert found.problems[0] == (
        'failed to parse current target "custom" to SemVer: No Major.Minor.Patch elements found'
    )
    assert found.concerned(["4.5.4"])["AdminAckUnknown"] == ["4.5.4"]


@pytest.mark.parametrize(
    ("found", "status", "reason", "message"),
    [
        (Found((Risk("Name", "text"),)), "False", "Name", "text"),
        (
            Found((Risk("Of-name", "text"),)),
            "False",
            "RiskNameNotCompatibleWithReasonProperty",
            "text",
        ),
        (Found((), ("a", "b")), "Unknown", "EvaluationFailed", "a\nb"),
    ],
)
def test_the_condition(found: Found, status: str, reason: str, message: str) -> None:
    verdict = upgradeable(found)
    assert verdict is not None
    assert (verdict.type, verdict.status, verdict.reason, verdict.message) == (
        "Upgradeable",
        status,
        reason,
        message,
    )
