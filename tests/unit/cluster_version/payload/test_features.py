"""What a FeatureGate says for a release."""

from typing import Any

import pytest

from cluster_version.payload.features import Features, features_of

OF_VERSIONS: list[dict[str, Any]] = [
    {"version": "1.0.0", "enabled": [{"name": "A"}, {"name": "B"}], "disabled": [{"name": "C"}]},
    {"version": "1.0.1", "disabled": [{"name": "A"}]},
]


@pytest.mark.parametrize(
    ("feature_gate", "version", "features"),
    [
        (None, "1.0.0", Features()),
        ({"spec": {}}, "1.0.0", Features()),
        ({"spec": {"featureSet": ""}, "status": {"featureGates": []}}, "1.0.0", Features()),
        ({"status": {"featureGates": OF_VERSIONS}}, "1.0.0", Features("", frozenset("AB"))),
        ({"status": {"featureGates": OF_VERSIONS}}, "1.0.1", Features()),
        ({"status": {"featureGates": OF_VERSIONS}}, "1.0.2", Features()),
        (
            {"spec": {"featureSet": "OKD"}, "status": {"featureGates": OF_VERSIONS}},
            "1.0.0",
            Features("OKD", frozenset("AB")),
        ),
    ],
)
def test_gates_are_those_of_the_version(
    feature_gate: dict[str, Any] | None, version: str, features: Features
) -> None:
    assert features_of(feature_gate, version) == features
