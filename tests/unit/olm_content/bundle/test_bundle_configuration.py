from typing import Any

import pytest

from olm_content.bundle.configuration import REASON, BundleConfig, ConfigurationError, parse
from olm_content.bundle.model import ClusterServiceVersion

ALL, OWN, SINGLE = "AllNamespaces", "OwnNamespace", "SingleNamespace"
INVALID = "invalid ClusterExtension configuration: invalid configuration: "
PATTERN = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"


def csv(*modes: str) -> ClusterServiceVersion:
    return ClusterServiceVersion("n", {}, frozenset(modes), (), (), (), (), (), ())


@pytest.mark.parametrize(
    ("modes", "inline", "watched"),
    [
        ((ALL,), None, None),
        ((ALL,), {}, None),
        ((ALL, OWN), {"watchNamespace": None}, None),
        ((ALL, SINGLE), {"watchNamespace": "other"}, "other"),
        ((OWN,), {"watchNamespace": "install"}, "install"),
        ((SINGLE,), {"watchNamespace": "other"}, "other"),
        ((OWN, SINGLE), {"watchNamespace": "install"}, "install"),
    ],
)
def test_a_fitting_watch_namespace_is_taken(
    modes: tuple[str, ...], inline: Any, watched: str | None
) -> None:
    assert parse(inline, csv(*modes), "install") == BundleConfig(watch_namespace=watched)


@pytest.mark.parametrize(
    ("modes", "inline", "problem"),
    [
        ((ALL,), [], "invalid type: got array, want object"),
        ((ALL,), {"watchNamespace": "x"}, 'unknown field "watchNamespace"'),
        ((ALL,), {"other": 1}, 'unknown field "other"'),
        ((OWN,), None, 'required field "watchNamespace" is missing'),
        ((OWN,), {"watchNamespace": None}, 'required field "watchNamespace" is missing'),
        (
            (SINGLE,),
            {"watchNamespace": 1},
            'invalid type for field "watchNamespace": got number, want string',
        ),
        (
            (SINGLE,),
            {"watchNamespace": "X"},
            f'field "watchNamespace" must match pattern "{PATTERN}"',
        ),
        (
            (SINGLE,),
            {"watchNamespace": "x" * 64},
            'field "watchNamespace" must have maximum length of 63 (len=64)',
        ),
        (
            (OWN,),
            {"watchNamespace": "other"},
            (
                "invalid format for field \"watchNamespace\": 'other' is not valid "
                'ownNamespaceInstallMode: invalid value "other": must be "install" (the namespace '
                "where the operator is installed) because this operator only supports OwnNamespace "
                "install mode"
            ),
        ),
        (
            (SINGLE,),
            {"watchNamespace": "install"},
            (
                "invalid format for field \"watchNamespace\": 'install' is not valid "
                'singleNamespaceInstallMode: invalid value "install": must be different from '
                '"install" (the install namespace) because this operator uses SingleNamespace '
                "install mode to watch a different namespace"
            ),
        ),
        (
            (OWN,),
            {"b": 1, "a": 2},
            (
                'multiple errors found:\n  - required field "watchNamespace" is missing\n'
                '  - unknown field "a"\n  - unknown field "b"'
            ),
        ),
        (
            (ALL,),
            {"deploymentConfig": {"env": [{"value": "v"}]}},
            "validation failed",
        ),
        (
            (ALL,),
            {"deploymentConfig": {"nodeSelector": {"a": 1}}},
            'invalid type for field "deploymentConfig.nodeSelector.a": got number, want string',
        ),
        (
            (ALL,),
            {"deploymentConfig": {"selector": {}}},
            'unknown field "selector"',
        ),
    ],
)
def test_what_does_not_fit_is_reported(modes: tuple[str, ...], inline: Any, problem: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        parse(inline, csv(*modes), "install")
    assert error.value.message == INVALID + problem
    assert error.value.reason == REASON


def test_formats_need_an_install_namespace() -> None:
    assert parse({"watchNamespace": "other"}, csv(OWN), "").watch_namespace == "other"


def test_deployment_config_is_read_as_its_types() -> None:
    given = {"deploymentConfig": {"resources": {"limits": {"cpu": "0.5"}}, "affinity": {}}}
    config = parse(given, csv(ALL), "install").deployment_config
    assert config == {"resources": {"limits": {"cpu": "500m"}}, "affinity": {}}


def test_a_quantity_that_is_none_is_reported() -> None:
    given = {"deploymentConfig": {"resources": {"limits": {"cpu": "much"}}}}
    with pytest.raises(
        ConfigurationError,
        match=r"^invalid deploymentConfig: failed to unmarshal deploymentConfig: quantities must",
    ) as refused:
        parse(given, csv(ALL), "install")
    assert "deploymentConfig.resources.limits.cpu" in refused.value.hint


TYPE = 'invalid type for field "deploymentConfig.{}": got {}, want {}'
NEEDED = 'required field "deploymentConfig.{}" is missing'


@pytest.mark.parametrize(
    ("given", "message", "named"),
    [
        ({"env": None}, NEEDED.format("env"), []),
        (
            {"env": [{"name": "A"}, 5]},
            "validation failed",
            [TYPE.format("env.1", "number", "object")],
        ),
        (
            {"env": [{"name": "A", "value": None}]},
            "validation failed",
            [NEEDED.format("env.0.value")],
        ),
        ({"resources": None}, "validation failed", [NEEDED.format("resources")]),
        (
            {"resources": {"limits": {"cpu": True}}},
            "validation failed",
            [TYPE.format("resources.limits.cpu", "boolean", "string or number")],
        ),
        (
            {"env": [{"value": 5}]},
            (
                "multiple errors found:\n  - validation failed\n"
                '  - required field "name" is missing\n'
                "  - " + TYPE.format("env.0.value", "number", "string")
            ),
            [NEEDED.format("env.0.name"), TYPE.format("env.0.value", "number", "string")],
        ),
        (
            {"annotations": {"a/b": 1}},
            TYPE.format("annotations.a~1b", "number", "string"),
            [],
        ),
        (
            {"tolerations": [{"tolerationSeconds": 1e30}]},
            "validation failed",
            [
                (
                    "number 1000000000000000019884624838656 for field "
                    '"deploymentConfig.tolerations.0.tolerationSeconds" is too large'
                )
            ],
        ),
        ({"volumes": [{"name": "v", "projected": {}}]}, None, []),
    ],
)
def test_a_fault_deep_inside_is_reported_in_upstreams_words_and_named_in_the_hint(
    given: dict[str, Any], message: str | None, named: list[str]
) -> None:
    if message is None:
        parse({"deploymentConfig": given}, csv(ALL), "install")
        return
    with pytest.raises(ConfigurationError) as refused:
        parse({"deploymentConfig": given}, csv(ALL), "install")
    assert refused.value.message == INVALID + message
    assert refused.value.hint.splitlines() == named


def test_what_may_be_null_says_so_when_it_is_neither_null_nor_right() -> None:
    with pytest.raises(ConfigurationError) as refused:
        parse({"watchNamespace": ""}, csv(ALL, SINGLE), "install")
    assert refused.value.message == INVALID + (
        "multiple errors found:\n"
        '  - invalid value for field "watchNamespace"\n'
        '  - invalid type for field "watchNamespace": got string, want null\n'
        "  - validation failed\n"
        '  - field "watchNamespace" must have minimum length of 1 (len=0)\n'
        f'  - field "watchNamespace" must match pattern "{PATTERN}"'
    )


def test_an_empty_node_selector_is_kept_to_replace_the_bundles() -> None:
    given: dict[str, Any] = {"deploymentConfig": {"nodeSelector": {}}}
    assert parse(given, csv(ALL), "install").deployment_config == {"nodeSelector": {}}


def test_the_annotation_counts_when_the_field_is_not_set() -> None:
    taken = parse(None, csv(ALL, SINGLE), "install", annotated_watch_namespace="other")
    assert taken.watch_namespace == "other"


def test_field_and_annotation_must_not_differ() -> None:
    inline = {"watchNamespace": "a"}
    parse(inline, csv(SINGLE), "install", annotated_watch_namespace="a")
    with pytest.raises(ConfigurationError, match='"a" in the configuration and "b" in the anno'):
        parse(inline, csv(SINGLE), "install", annotated_watch_namespace="b")
