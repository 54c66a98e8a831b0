"""Whether OpenShift may be updated, by what revisions declare and the cluster's version."""

import json
from typing import Any

import pytest

from api.objects import KubeObject
from olm_content.bundle.properties import MinorVersion, next_version
from operator_controller.status.cluster_updates import (
    Compatibility,
    Declaration,
    UnknownVersionError,
    compatibility,
    current_version,
    declarations,
)

GROUP = "olm.operatorframework.io"


def object_set(
    extension: str,
    number: int,
    *maxima: Any,
    state: str = "Active",
    owner: str = "ClusterExtension",
    **meta: Any,
) -> KubeObject:
    properties = [{"type": "olm.maxOpenShiftVersion", "value": each} for each in maxima]
    notes = {f"{GROUP}/bundle-name": f"{extension}.v{number}"}
    if maxima:
        notes["olm.properties"] = json.dumps(properties)
    reference = {"kind": owner, "name": extension, "uid": "u", "controller": True}
    return {
        "metadata": {
            "name": f"{extension}-{number}",
            "annotations": notes,
            "ownerReferences": [reference],
            **meta,
        },
        "spec": {"revision": number, "lifecycleState": state},
    }


def said(extension: str, number: int, latest: str = "", problem: str = "") -> Declaration:
    version = MinorVersion(*map(int, latest.split("."))) if latest else None
    return Declaration(extension, f"{extension}.v{number}", version, problem)


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        pytest.param([], [], id="nothing installed"),
        pytest.param([object_set("a", 1)], [], id="no such property"),
        pytest.param([object_set("a", 1, "4.18")], [said("a", 1, "4.18")], id="one"),
        pytest.param(
            [object_set("b", 1, "4.19"), object_set("a", 1, "4.18")],
            [said("a", 1, "4.18"), said("b", 1, "4.19")],
            id="by name",
        ),
        pytest.param([object_set("a", 1, "4.18", state="Archived")], [], id="archived"),
        pytest.param(
            [object_set("a", 1, "4.18", deletionTimestamp="2025-01-01T00:00:00Z")], [], id="deleted"
        ),
        pytest.param(
            [object_set("a", 1), object_set("a", 2, "4.18")],
            [said("a", 2, "4.18")],
            id="an update that rolls out counts",
        ),
        pytest.param(
            [object_set("a", 1, "4.18"), object_set("a", 2)],
            [said("a", 1, "4.18")],
            id="and so does what it replaces, until it has",
        ),
        pytest.param(
            [object_set("a", 1, "4.18"), object_set("a", 1, "4.18")],
            [said("a", 1, "4.18")],
            id="rendered anew",
        ),
        pytest.param(
            [object_set("a", 1, "4.18"), object_set("a", 1, None)],
            [
                said("a", 1, "4.18"),
                said(
                    "a",
                    1,
                    problem="olm.maxOpenShiftVersion is null, and should be MAJOR.MINOR, such as "
                    '"4.18"',
                ),
            ],
            id="a bundle that was corrected without another name",
        ),
        pytest.param(
            [object_set("a", 1, "4.18", owner="ReplicaSet")], [], id="of no extension of ours"
        ),
        pytest.param([object_set("a", 1, "4.18", ownerReferences=[])], [], id="set free"),
        pytest.param(
            [object_set("a", 1, "4.18", "4.19")],
            [said("a", 1, problem="more than one olm.maxOpenShiftVersion")],
            id="unreadable",
        ),
    ],
)
def test_what_active_revisions_declare(
    objects: list[KubeObject], expected: list[Declaration]
) -> None:
    assert declarations(objects) == tuple(expected)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"desired": {"version": "4.18.0"}}, (4, 18)),
        ({"desired": {"version": "4.18.33"}}, (4, 18)),
        ({"desired": {"version": "4.18.0-rc.1"}}, (4, 18)),
        ({"desired": {"version": "4.19.0-0.nightly-2025-01-02-030405"}}, (4, 19)),
        (
            {"desired": {"version": "4.19.0"}, "history": [{"version": "4.18.0"}]},
            (4, 19),
        ),
        ({"history": [{"version": "4.19.0"}, {"version": "4.18.0"}]}, (4, 19)),
        ({"desired": {"version": ""}, "history": [{"version": "4.18.7"}]}, (4, 18)),
    ],
)
def test_the_version_of_the_cluster(status: dict[str, Any], expected: tuple[int, int]) -> None:
    assert current_version({"status": status}) == expected


@pytest.mark.parametrize(
    ("cluster_version", "problem"),
    [
        (None, 'there is no ClusterVersion "version"'),
        ({}, 'desires version "": Version string empty'),
        ({"status": {"desired": {"version": "4.18"}}}, 'desires version "4.18": No Major.Minor.'),
    ],
)
def test_a_version_that_is_not_known(cluster_version: KubeObject | None, problem: str) -> None:
    with pytest.raises(UnknownVersionError, match=problem):
        current_version(cluster_version)


@pytest.mark.parametrize(
    ("current", "following"),
    [
        ((4, 9), (4, 10)),
        ((4, 18), (4, 19)),
        ((4, 22), (4, 23)),
        pytest.param((4, 23), (5, 1), id="4.23 is 5.0"),
        ((5, 0), (5, 1)),
    ],
)
def test_the_next_version(current: tuple[int, int], following: tuple[int, int]) -> None:
    assert next_version(MinorVersion(*current)) == following


@pytest.mark.parametrize(
    ("latest", "current", "permitted"),
    [
        ("4.18", (4, 17), True),
        ("4.18", (4, 18), False),
        ("4.18", (4, 19), False),
        ("4.10", (4, 9), True),
        ("4.9", (4, 9), False),
        ("5.0", (4, 18), True),
        ("4.23", (4, 22), True),
        ("5.0", (4, 23), False),
        ("5.1", (4, 23), True),
        ("4.99", (5, 0), False),
    ],
)
def test_who_permits_the_next_version(
    latest: str, current: tuple[int, int], permitted: bool
) -> None:
    found = compatibility([said("a", 1, latest)], MinorVersion(*current))
    assert found.reason == ("" if permitted else "IncompatibleOperatorsInstalled")


CURRENT = MinorVersion(4, 18)
A = 'ClusterExtension "a" (bundle "a.v1", olm.maxOpenShiftVersion 4.18)'


@pytest.mark.parametrize(
    ("declared", "current", "expected"),
    [
        pytest.param(
            [],
            CURRENT,
            Compatibility("", "nothing that is installed forbids OpenShift 4.19"),
            id="nothing declared",
        ),
        pytest.param(
            [said("a", 1, "4.18"), said("b", 2, "4.19"), said("c", 3, problem="odd")],
            CURRENT,
            Compatibility(
                "IncompatibleOperatorsInstalled",
                f'OpenShift 4.19 is not permitted by {A}, ClusterExtension "c" (bundle "c.v3", '
                "odd): update to versions that permit it, or delete what has none",
            ),
            id="all that are against it are named",
        ),
        pytest.param(
            [said("c", 3, problem="odd")],
            CURRENT,
            Compatibility(
                "FailureGettingExtensionMetadata",
                'OpenShift 4.19 is not permitted by ClusterExtension "c" (bundle "c.v3", odd): '
                "update to versions that permit it, or delete what has none",
            ),
            id="unreadable ones alone",
        ),
        pytest.param(
            [said("a", 1, "4.18")],
            None,
            Compatibility(
                "ErrorCheckingOperatorCompatibility",
                f"cannot tell which version of OpenShift is next: gone; named by {A}",
            ),
            id="what cannot be checked is forbidden",
        ),
        pytest.param(
            [],
            None,
            Compatibility("", "no installed bundle names a last version of OpenShift"),
            id="nothing to check",
        ),
    ],
)
def test_what_is_said(
    declared: list[Declaration], current: MinorVersion | None, expected: Compatibility
) -> None:
    assert compatibility(declared, current, "gone" if current is None else "") == expected
