"""Configuration as a form: what is filled in is what the controller reads."""

from typing import Any

import pytest

from console.config_form import Kind, inputs_of, read_form, texts_of
from olm_content.bundle.config_schema import config_schema
from olm_runtime.errors import TerminalError

INPUTS = inputs_of(config_schema(["OwnNamespace", "SingleNamespace"]))
DEPLOYMENT = "config.deploymentConfig."


def test_every_field_has_a_way_to_be_filled_in() -> None:
    assert {each.name.removeprefix("config."): each.kind for each in INPUTS} == {
        "watchNamespace": Kind.TEXT,
        "deploymentConfig.nodeSelector": Kind.PAIRS,
        "deploymentConfig.tolerations": Kind.YAML,
        "deploymentConfig.resources.claims": Kind.YAML,
        "deploymentConfig.resources.limits": Kind.PAIRS,
        "deploymentConfig.resources.requests": Kind.PAIRS,
        "deploymentConfig.envFrom": Kind.YAML,
        "deploymentConfig.env": Kind.VARIABLES,
        "deploymentConfig.volumes": Kind.YAML,
        "deploymentConfig.volumeMounts": Kind.YAML,
        "deploymentConfig.affinity.nodeAffinity": Kind.YAML,
        "deploymentConfig.affinity.podAffinity": Kind.YAML,
        "deploymentConfig.affinity.podAntiAffinity": Kind.YAML,
        "deploymentConfig.annotations": Kind.PAIRS,
    }


VALUES: list[tuple[str, str, Any]] = [
    ("watchNamespace", "team", "team"),
    ("watchNamespace", "yes", "yes"),
    ("deploymentConfig.nodeSelector", "a=b\nc=", {"a": "b", "c": ""}),
    ("deploymentConfig.env", "A=x=y", [{"name": "A", "value": "x=y"}]),
    ("deploymentConfig.env", "- name: A\n  valueFrom: {}", [{"name": "A", "valueFrom": {}}]),
    ("deploymentConfig.tolerations", "- operator: Exists", [{"operator": "Exists"}]),
    ("deploymentConfig.resources.limits", "cpu=100m\nmemory=1Gi", {"cpu": "100m", "memory": "1Gi"}),
]  # fmt: skip


@pytest.mark.parametrize(("field", "text", "value"), VALUES)
def test_what_is_filled_in_is_read_and_shown_again(field: str, text: str, value: Any) -> None:
    found = read_form(INPUTS, {f"config.{field}": f" {text}\n"})
    wanted = value
    for name in reversed(field.split(".")):
        wanted = {name: wanted}
    assert found == wanted
    texts = texts_of(INPUTS, found)
    assert read_form(INPUTS, texts) == found


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("nodeSelector", "a=b\nc", "deploymentConfig.nodeSelector: 'c' is no name=value"),
        ("env", "=x", "deploymentConfig.env: '=x' is no name=value"),
        ("tolerations", "{", "deploymentConfig.tolerations: "),
    ],
)
def test_what_cannot_be_read_names_its_field(field: str, text: str, said: str) -> None:
    with pytest.raises(TerminalError) as raised:
        read_form(INPUTS, {DEPLOYMENT + field: text})
    assert raised.value.message.startswith(said)


def test_nothing_filled_in_is_nothing() -> None:
    assert read_form(INPUTS, {each.name: "  " for each in INPUTS} | {"config.other": "x"}) == {}


@pytest.mark.parametrize("value", [None, [], "text", {"deploymentConfig": 3}])
def test_a_configuration_of_another_shape_fills_nothing_in(value: Any) -> None:
    assert set(texts_of(INPUTS, value).values()) == {""}
