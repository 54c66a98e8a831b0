"""Which revision a rollback goes to, and what stands against it."""

from typing import Any

import pytest

from api.objects import KubeObject
from api.olm.v1.clusterextension import ClusterExtension
from olm_client.lifecycle.rollback_plan import appliers, choose, is_impossible, obstacles
from olm_runtime.errors import TerminalError
from operator_controller.apply.revisions import Revisions

GROUP = "olm.operatorframework.io"


def extension(catalog: dict[str, str] | None = None, *, safe: bool = True) -> KubeObject:
    spec: dict[str, Any] = {
        "namespace": "ns",
        "source": {"sourceType": "Catalog", "catalog": {"packageName": "p", **(catalog or {})}},
    }
    if not safe:
        spec["install"] = {"preflight": {"crdUpgradeSafety": {"enforcement": "None"}}}
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "ClusterExtension",
        "metadata": {"name": "ext", "generation": 3},
        "spec": spec,
    }


def revision(
    number: int, version: str, *, active: bool = False, done: bool = True, package: str = "p"
) -> KubeObject:
    conditions = [{"type": "Succeeded", "status": "True"}] if done else []
    return {
        "metadata": {
            "name": f"ext-{number}",
            "annotations": {
                f"{GROUP}/bundle-name": f"p.v{version}",
                f"{GROUP}/bundle-version": version,
                f"{GROUP}/package-name": package,
            },
        },
        "spec": {"revision": number, "lifecycleState": "Active" if active else "Archived"},
        "status": {"conditions": conditions},
    }


READ = ClusterExtension.from_object(extension())


@pytest.mark.parametrize(
    ("revisions", "number", "target"),
    [
        pytest.param([revision(1, "1.0.0"), revision(2, "2.0.0", active=True)], None, 1, id="one"),
        pytest.param(
            [revision(1, "1.0.0"), revision(2, "2.0.0"), revision(3, "2.0.0", active=True)],
            None,
            1,
            id="the same bundle in another configuration is passed over",
        ),
        pytest.param(
            [
                revision(1, "1.0.0"),
                revision(2, "1.5.0", done=False),
                revision(3, "2.0.0", active=True),
            ],
            None,
            1,
            id="what never rolled out is passed over",
        ),
        pytest.param(
            [revision(1, "2.0.0"), revision(2, "1.0.0", active=True)], 1, 1, id="forward by number"
        ),
        pytest.param(
            [revision(1, "1.0.0"), revision(2, "2.0.0", active=True, done=False)],
            None,
            1,
            id="nothing is installed",
        ),
    ],
)
def test_which_revision(revisions: list[KubeObject], number: int | None, target: int) -> None:
    assert choose(READ, Revisions.of(revisions), number).target.number == target


@pytest.mark.parametrize(
    ("revisions", "number", "message"),
    [
        ([revision(1, "2.0.0"), revision(2, "1.0.0", active=True)], None, "of a lower version"),
        ([], None, "has no revision of a lower version"),
        ([revision(1, "1.0.0", active=True)], None, "has no revision of a lower version"),
        ([revision(1, "1.0.0", active=True)], 7, "revision 7 of ext is not kept"),
        ([revision(1, "1.0.0", active=True)], 1, "which is installed"),
        ([revision(1, "1", done=False), revision(2, "2", active=True)], 1, "never rolled out"),
        ([revision(1, "1", package="q"), revision(2, "2", active=True)], 1, "is of package q"),
    ],
)
def test_why_not(revisions: list[KubeObject], number: int | None, message: str) -> None:
    with pytest.raises(TerminalError, match=message):
        choose(READ, Revisions.of(revisions), number)


def test_the_way_on_is_the_way_back() -> None:
    revisions = Revisions.of([revision(1, "1.0.0"), revision(2, "2.0.0", active=True)])
    plan = choose(READ, revisions, None)
    catalog = plan.patch["spec"]["source"]["catalog"]
    assert catalog == {"version": "1.0.0", "upgradeConstraintPolicy": "SelfCertified"}
    asked: tuple[dict[str, str], ...] = (
        {},
        {"version": ">=1", "upgradeConstraintPolicy": "CatalogProvided"},
    )
    for given in asked:
        way = plan.way_on(extension(given))["spec"]["source"]["catalog"]
        assert {key: value for key, value in way.items() if value is not None} == given
        assert way.keys() == catalog.keys()


def definition(*versions: str, stored: str = "", fields: str = "x") -> KubeObject:
    properties = {field: {"type": "string"} for field in fields.split()}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "Thing", "plural": "things"},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": version == versions[-1],
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}},
                }
                for version in versions
            ],
        },
        "status": {"storedVersions": stored.split()},
    }


@pytest.mark.parametrize(
    ("live", "safe", "found", "impossible"),
    [
        pytest.param(definition("v1", stored="v1"), True, 0, False, id="the same"),
        pytest.param(
            definition("v1", stored="v1", fields="x y"), True, 1, False, id="a field would vanish"
        ),
        pytest.param(
            definition("v1", stored="v1", fields="x y"), False, 0, False, id="which is allowed"
        ),
        pytest.param(
            definition("v1", "v2", stored="v1 v2"), True, 1, True, id="a stored version would"
        ),
        pytest.param(
            definition("v1", "v2", stored="v1 v2"), False, 1, True, id="which never is allowed"
        ),
    ],
)
def test_definitions_stand_against_it(
    live: KubeObject, safe: bool, found: int, impossible: bool
) -> None:
    revisions = Revisions.of([revision(1, "1.0.0"), revision(2, "2.0.0", active=True)])
    plan = choose(ClusterExtension.from_object(extension(safe=safe)), revisions, None)
    name = "things.example.com"
    findings = obstacles(plan, {name: definition("v1")}, {name: live})
    assert (len(findings), any(map(is_impossible, findings))) == (found, impossible)
    assert obstacles(plan, {name: definition("v1")}, {}) == ()


def test_who_applies_the_spec_is_named() -> None:
    fields: dict[str, Any] = {"f:spec": {"f:source": {"f:catalog": {"f:version": {}}}}}
    managed = [
        {"manager": "argocd", "operation": "Apply", "fieldsV1": fields},
        {"manager": "kubectl-patch", "operation": "Update", "fieldsV1": fields},
        {"manager": "other", "operation": "Apply", "fieldsV1": {"f:metadata": {}}},
    ]
    assert appliers({"metadata": {"managedFields": managed}}) == ["argocd"]
    assert appliers({}) == []
