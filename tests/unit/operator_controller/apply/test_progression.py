"""Probes that a ClusterObjectSet brings itself."""

from typing import Any

import pytest

from api.objects import GVK, KubeObject
from olm_rollout.probes import Health, Probes, describe
from olm_runtime.errors import TerminalError
from operator_controller.apply.progression import Progression, read_probes

LIVE: KubeObject = {
    "apiVersion": "example.com/v1",
    "kind": "Thing",
    "metadata": {"name": "one", "namespace": "ns", "generation": 2, "labels": {"app": "a"}},
    "spec": {"replicas": 2, "paused": False, "name": "x"},
    "status": {
        "ready": 2,
        "conditions": [
            {"type": "Ready", "status": "True"},
            {"type": "Synced", "status": "False", "message": "no peer"},
            {"type": "Old", "status": "True", "observedGeneration": 1},
        ],
    },
}
THING = GVK("example.com", "v1", "Thing")


def probe(*assertions: dict[str, Any], selector: dict[str, Any] | None = None) -> Progression:
    by_kind = {"type": "GroupKind", "groupKind": {"group": "example.com", "kind": "Thing"}}
    raw = {"selector": selector or by_kind, "assertions": list(assertions)}
    return read_probes([raw])[0]


def has(kind: str, status: str) -> dict[str, Any]:
    return {"type": "ConditionEqual", "conditionEqual": {"type": kind, "status": status}}


def equal(one: str, other: str) -> dict[str, Any]:
    return {"type": "FieldsEqual", "fieldsEqual": {"fieldA": one, "fieldB": other}}


def value(path: str, expected: str) -> dict[str, Any]:
    return {"type": "FieldValue", "fieldValue": {"fieldPath": path, "value": expected}}


@pytest.mark.parametrize(
    ("assertion", "message"),
    [
        pytest.param(has("Ready", "True"), "", id="a condition that holds"),
        pytest.param(
            has("Synced", "True"),
            'condition "Synced" == "True": is False: no peer',
            id="a condition of another status",
        ),
        pytest.param(has("Synced", "False"), "", id="a condition that is to be False"),
        pytest.param(
            has("Gone", "True"), 'condition "Gone" == "True": not reported', id="no such condition"
        ),
        pytest.param(
            has("Old", "True"),
            'condition "Old" == "True": outdated',
            id="a condition of an older generation",
        ),
        pytest.param(equal("spec.replicas", "status.ready"), "", id="equal fields"),
        pytest.param(
            equal("spec.replicas", "spec.name"),
            '"spec.replicas" == "spec.name": "2" is not "x"',
            id="fields that differ",
        ),
        pytest.param(
            equal("spec.replicas", "status.gone"),
            '"spec.replicas" == "status.gone": "status.gone" is missing',
            id="a field that is missing",
        ),
        pytest.param(value("spec.name", "x"), "", id="a text"),
        pytest.param(value("spec.replicas", "2"), "", id="a number"),
        pytest.param(value("spec.paused", "false"), "", id="a truth value"),
        pytest.param(
            value("spec.name", "y"),
            'value at key "spec.name" != "y"; expected: "y" got: "x"',
            id="another value",
        ),
        pytest.param(
            value("spec.name.deep", "y"), 'missing key: "spec.name.deep"', id="a path beyond a text"
        ),
        pytest.param(
            value("spec", "y"),
            'value at key "spec" != "y"; expected: "y" got: no single value',
            id="a field with fields",
        ),
    ],
)
def test_what_is_said_of_an_assertion(assertion: dict[str, Any], message: str) -> None:
    assert probe(assertion).failures(LIVE) == ((message,) if message else ())


@pytest.mark.parametrize(
    ("selector", "chosen"),
    [
        ({"matchLabels": {"app": "a"}}, True),
        ({"matchLabels": {"app": "b"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}, False),
    ],
)
def test_objects_are_chosen_by_label(selector: dict[str, Any], chosen: bool) -> None:
    found = probe(has("Gone", "True"), selector={"type": "Label", "label": selector})
    assert found.may_select(GVK("", "v1", "ConfigMap"))
    assert found.selects(LIVE) is chosen


def test_objects_are_chosen_by_kind_in_any_version() -> None:
    found = probe(has("Ready", "True"))
    assert found.may_select(GVK("example.com", "v2", "Thing"))
    assert not found.may_select(GVK("", "v1", "Thing"))
    assert not found.selects({**LIVE, "kind": "Other"})


def test_a_selector_without_values_is_refused() -> None:
    label = {"matchExpressions": [{"key": "app", "operator": "In"}]}
    with pytest.raises(TerminalError, match="invalid label selector in progressionProbe: values"):
        probe(has("Ready", "True"), selector={"type": "Label", "label": label})


def test_all_that_fails_is_reported_in_one_line_in_upstreams_form() -> None:
    probes = Probes(lambda _: False, (probe(has("Gone", "True"), value("spec.name", "y")),))
    assert probes.hold_up(THING)
    assert probes.ask(THING)
    found = probes.obstacle(LIVE)
    assert found.health is Health.UNHEALTHY
    assert describe(LIVE, found) == (
        'Object Thing.example.com/v1 ns/one: condition "Gone" == "True": not reported and '
        'value at key "spec.name" != "y"; expected: "y" got: "x"'
    )


def test_a_status_of_an_older_generation_passes_no_probe() -> None:
    stale = {**LIVE, "status": {**LIVE["status"], "observedGeneration": 1}}
    probes = Probes(lambda _: False, (probe(has("Ready", "True")),))
    assert probes.obstacle(LIVE).health is Health.HEALTHY
    assert probes.obstacle(stale).health is Health.UNKNOWN
    assert describe(stale, probes.health(stale)).endswith("ns/one: .status outdated")


def test_a_probe_of_ones_own_holds_up_what_the_gate_lets_pass() -> None:
    deployment = GVK("apps", "v1", "Deployment")
    assert not Probes(lambda _: False).hold_up(deployment)
    assert Probes(lambda _: True).hold_up(deployment)
    assert Probes(lambda _: False).only_report(deployment)
    assert not Probes(lambda _: True).hold_up(GVK("", "v1", "ConfigMap"))
