"""Plain values as Go's encoding/json writes them from typed structs."""

from typing import Any

import pytest

from olm_content.formats import go_json
from olm_content.kube_types.typed_json import typed_json


@pytest.mark.parametrize(
    ("type_name", "value", "text"),
    [
        (
            "PolicyRule",
            {"resources": ["pods"], "verbs": ["get"]},
            '{"verbs":["get"],"resources":["pods"]}',
        ),
        ("PolicyRule", {}, '{"verbs":null}'),
        ("PolicyRule", {"verbs": []}, '{"verbs":[]}'),
        ("StrategyDeploymentPermissions", {}, '{"serviceAccountName":"","rules":null}'),
        ("CleanupSpec", {}, '{"enabled":false}'),
        (
            "Container",
            {"env": [{"value": "<1>", "name": "A"}], "name": "c"},
            '{"name":"c","env":[{"name":"A","value":"\\u003c1\\u003e"}],"resources":{}}',
        ),
        (
            "DeploymentSpec",
            {},
            '{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}}',
        ),
        (
            "ResourceRequirements",
            {"limits": {"memory": "1024Mi", "cpu": 0.5}},
            '{"limits":{"cpu":"500m","memory":"1Gi"}}',
        ),
        (
            "SpecDescriptor",
            {"path": "p", "value": {"b": 1, "a": [{"d": 1, "c": 2}]}},
            '{"path":"p","value":{"a":[{"c":2,"d":1}],"b":1}}',
        ),
    ],
)
def test_values_are_written_as_their_type(type_name: str, value: Any, text: str) -> None:
    assert go_json.dumps(typed_json(type_name, value)) == text
