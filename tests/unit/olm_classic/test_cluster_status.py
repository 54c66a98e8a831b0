"""What OLM Classic says in ClusterOperators, and which updates installed operators forbid."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from api.objects import KubeObject
from olm_classic.cluster_status import (
    BLOCKING,
    UNCHECKED_TEXT,
    Component,
    always_upgradeable,
    component_status,
    upgradeable,
)

EARLIER = datetime(2025, 1, 1, tzinfo=UTC)
NOW = datetime(2025, 1, 2, tzinfo=UTC)
OLM = Component("operator-lifecycle-manager", "4.18.3", "olm", ("operators",))
P = "4.18.1"
PROPERTY = "olm.maxOpenShiftVersion"


def csv(*values: Any, name: str = "a.v1") -> KubeObject:
    properties = [{"type": PROPERTY, "value": value} for value in values]
    text = json.dumps({"properties": [{"type": "other", "value": {}}, *properties]})
    annotations = {"operatorframework.io/properties": text}
    return {"metadata": {"name": name, "namespace": "ns", "annotations": annotations}}


def blocked(*lines: str) -> tuple[str, bool, str, str]:
    return "Upgradeable", False, "IncompatibleOperatorsInstalled", "\n".join([BLOCKING, *lines])


def test_the_header_names_versions_as_upstream_does() -> None:
    assert BLOCKING == (
        "ClusterServiceVersions blocking minor version upgrades to 4.23 or major version "
        "upgrades to 5.0:"
    )


@pytest.mark.parametrize(
    ("release", "latest", "may"),
    [
        ("4.18.3", "4.18", False),
        ("4.18.3", "4.19", True),
        ("4.18.3", '"4.19"', True),
        ("4.18.3", "v4.19.0", True),
        ("4.18.0-rc.1", "4.17", False),
        ("4.9.0", "4.10", True),
        ("4.22.1", "4.22", False),
        ("4.22.1", "4.23", True),
        ("4.22.1", "5.0", True),
        ("4.23.0", "5.0", False),
        ("5.0.0", "4.23", False),
        ("4.23.0", "5.1", True),
    ],
)
def test_an_operator_blocks_releases_after_its_last(release: str, latest: str, may: bool) -> None:
    found = upgradeable([csv(latest)], release)
    if may:
        assert found == always_upgradeable()
    else:
        shown = latest.strip('"')
        assert found == blocked(f"- maximum supported OCP version for ns/a.v1 is {shown}")


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ([""], 'value cannot be "" (an empty string)'),
        (["x"], 'failed to parse "x" as semver: '),
        (["4.18", "4.19"], f'defining more than one "{PROPERTY}" property is not allowed'),
        (
            [P],
            f"property {PROPERTY} must specify only <major>.<minor> version, got invalid value {P}",
        ),
    ],
)
def test_what_is_no_version_blocks(values: list[str], error: str) -> None:
    kind, holds, reason, message = upgradeable([csv(*values)], "4.18.3")
    assert (kind, holds, reason) == blocked()[:3]
    start = f"{BLOCKING}\n- ns/a.v1 has invalid {PROPERTY} properties: {error}"
    assert message.startswith(start)


def test_invalid_ones_are_reported_first() -> None:
    found = upgradeable([csv("4.17", name="a"), csv("", name="b"), csv(name="c")], "4.18.3")
    assert found == blocked(
        f'- ns/b has invalid {PROPERTY} properties: value cannot be "" (an empty string)',
        "- maximum supported OCP version for ns/a is 4.17",
    )


def test_a_number_is_taken_by_its_digits() -> None:
    obj = csv("4.10")
    annotations = obj["metadata"]["annotations"]
    annotations["operatorframework.io/properties"] = (
        '{"properties": [{"type": "olm.maxOpenShiftVersion", "value": 4.10}]}'
    )
    assert upgradeable([obj], "4.9.0") == always_upgradeable()


@pytest.mark.parametrize("release", ["", "none"])
def test_without_a_release_nothing_can_be_said(release: str) -> None:
    kind, holds, reason, message = upgradeable([], release)
    assert (kind, holds, reason) == ("Upgradeable", False, "ErrorCheckingOperatorCompatibility")
    assert message.startswith(UNCHECKED_TEXT)


def test_the_status_of_what_works_and_what_does_not() -> None:
    before = component_status(OLM, {}, EARLIER, upgradeable=always_upgradeable())
    assert component_status(OLM, before, NOW, upgradeable=always_upgradeable()) == before
    shown = {c["type"]: (c["status"], c["message"]) for c in before["conditions"]}
    assert shown["Progressing"] == ("False", "Deployed 4.18.3")
    assert shown["Available"][0] == "True"
    assert shown["Degraded"][0] == "False"
    assert [each["name"] for each in before["versions"]] == [
        "operator",
        "operator-lifecycle-manager",
    ]
    after = component_status(OLM, before, NOW, upgradeable=always_upgradeable(), problem="why")
    shown = {c["type"]: (c["status"], c["message"]) for c in after["conditions"]}
    assert shown["Progressing"] == ("True", "Waiting to see update 4.18.3 succeed")
    assert shown["Available"] == ("False", "why")
