"""The kinds as models: reading, defaults, and the questions they answer."""

from typing import Any

import pytest

from api.conditions import ConditionStatus
from api.metadata import LabelSelector
from api.olm.v1.clustercatalog import AvailabilityMode, ClusterCatalog
from api.olm.v1.clusterextension import ClusterExtension, UpgradeConstraintPolicy
from api.olm.v1.clusterobjectset import ClusterObjectSet, CollisionProtection
from api.wire import InvalidObjectError
from tests.cases.crd.loader import load_cases, merge_patch

EXTENSION = {**load_cases("clusterextensions")[0].object, "metadata": {"name": "argocd"}}
CATALOG = {**load_cases("clustercatalogs")[0].object, "metadata": {"name": "operatorhubio"}}
REVISION = {**load_cases("clusterobjectsets")[0].object, "metadata": {"name": "argocd-1"}}


def test_the_least_extension_has_the_published_defaults() -> None:
    extension = ClusterExtension.from_object(EXTENSION)
    catalog = extension.spec.source.catalog
    assert catalog.version == ""
    assert catalog.channels == ()
    assert catalog.selector == LabelSelector()
    assert catalog.upgrade_constraint_policy is UpgradeConstraintPolicy.CATALOG_PROVIDED
    assert extension.spec.service_account_name == ""
    assert extension.spec.crd_upgrade_safety_enforced
    assert extension.spec.progress_deadline_minutes is None
    assert extension.status.conditions == ()
    assert extension.status.install is None


def test_the_least_catalog_has_the_published_defaults() -> None:
    spec = ClusterCatalog.from_object(CATALOG).spec
    assert spec.priority == 0
    assert spec.availability_mode is AvailabilityMode.AVAILABLE
    assert spec.source.image.poll_interval_minutes is None


@pytest.mark.parametrize(
    ("switch", "enforced"),
    [
        ({"enforcement": "Strict"}, True),
        ({"enforcement": "None"}, False),
        ({"disabled": False}, True),
        ({"disabled": True}, False),
        ({}, True),
    ],
)
def test_crd_upgrade_safety_has_one_switch_in_two_spellings(
    switch: dict[str, Any], enforced: bool
) -> None:
    raw = merge_patch(EXTENSION, {"spec": {"install": {"preflight": {"crdUpgradeSafety": switch}}}})
    assert ClusterExtension.from_object(raw).spec.crd_upgrade_safety_enforced is enforced


def test_service_account_name() -> None:
    raw = merge_patch(EXTENSION, {"spec": {"serviceAccount": {"name": "installer"}}})
    assert ClusterExtension.from_object(raw).spec.service_account_name == "installer"


def test_an_object_under_deletion() -> None:
    raw = merge_patch(EXTENSION, {"metadata": {"deletionTimestamp": "2025-02-18T20:29:00Z"}})
    assert ClusterExtension.from_object(raw).metadata.is_deleted
    assert not ClusterExtension.from_object(EXTENSION).metadata.is_deleted


@pytest.mark.parametrize(
    ("entry", "phase", "expected"),
    [
        (None, None, CollisionProtection.PREVENT),
        (None, "IfNoController", CollisionProtection.IF_NO_CONTROLLER),
        ("None", "IfNoController", CollisionProtection.NONE),
        ("None", None, CollisionProtection.NONE),
    ],
)
def test_the_nearest_collision_protection_counts(
    entry: str | None, phase: str | None, expected: CollisionProtection
) -> None:
    objects = [{"ref": {"name": "a", "key": "b"}, "collisionProtection": entry}]
    phases = [{"name": "deploy", "objects": objects, "collisionProtection": phase}]
    spec = ClusterObjectSet.from_object(
        REVISION | {"spec": REVISION["spec"] | {"phases": phases}}
    ).spec
    [only] = spec.phases
    assert spec.protection_of(only, only.objects[0]) is expected


def test_items_of_lists_lack_their_kind() -> None:
    item = {key: value for key, value in EXTENSION.items() if key not in ("kind", "apiVersion")}
    assert ClusterExtension.from_object(item) == ClusterExtension.from_object(EXTENSION)


def test_conditions_of_other_writers_are_read() -> None:
    foreign = {"type": "example.com/Checked", "status": "Unknown", "reason": "Waiting"}
    raw = EXTENSION | {"status": {"conditions": [foreign]}}
    [condition] = ClusterExtension.from_object(raw).status.conditions
    assert condition.status is ConditionStatus.UNKNOWN
    assert condition.reason == "Waiting"


def test_models_do_not_change() -> None:
    extension = ClusterExtension.from_object(EXTENSION)
    with pytest.raises(AttributeError, match="immutable"):
        extension.spec = extension.spec  # type: ignore[misc]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        pytest.param(
            CATALOG,
            'ClusterExtension "operatorhubio" cannot be read: kind: expected "ClusterExtension",'
            ' got "ClusterCatalog"',
            id="another kind",
        ),
        pytest.param(
            EXTENSION | {"apiVersion": "olm.operatorframework.io/v1alpha1"},
            'ClusterExtension "argocd" cannot be read: apiVersion: expected'
            ' "olm.operatorframework.io/v1", got "olm.operatorframework.io/v1alpha1"',
            id="another version",
        ),
        pytest.param(
            merge_patch(EXTENSION, {"spec": None}),
            'ClusterExtension "argocd" cannot be read: spec: required, but missing',
            id="no spec",
        ),
        pytest.param(
            merge_patch(EXTENSION, {"spec": {"namespace": None, "source": {"catalog": None}}}),
            'ClusterExtension "argocd" cannot be read: spec.namespace: required, but missing;'
            " spec.source.catalog: required, but missing",
            id="several faults",
        ),
        pytest.param(
            [], 'ClusterExtension "" cannot be read: expected an object, got a list', id="a list"
        ),
        pytest.param(
            {"metadata": 7},
            'ClusterExtension "" cannot be read: metadata: expected an object, got int;'
            " spec: required, but missing",
            id="nonsense",
        ),
    ],
)
def test_what_cannot_be_read_is_said(raw: Any, message: str) -> None:
    with pytest.raises(InvalidObjectError) as raised:
        ClusterExtension.from_object(raw)
    assert str(raised.value) == message
