"""What made a revision, what has become of it, and when a stored one is asked for."""

import pytest

from api.objects import KubeObject
from api.olm.v1.clusterextension import CatalogFilter, UpgradeConstraintPolicy
from operator_controller.apply.history import (
    Cause,
    State,
    cause_of,
    pinned,
    state_of,
    with_content_of,
)
from operator_controller.apply.revisions import BundleIdentity, Revisions

GROUP = "olm.operatorframework.io"
ROLLED_OUT = {"type": "Succeeded", "status": "True"}


def raw(
    number: int,
    version: str = "1.0.0",
    *conditions: dict[str, str],
    state: str = "Active",
    generation: int = 1,
    deleting: bool = False,
) -> KubeObject:
    meta = {
        "name": f"e-{number}",
        "annotations": {
            f"{GROUP}/bundle-name": f"p.v{version}",
            f"{GROUP}/bundle-version": version,
            f"{GROUP}/package-name": "p",
            f"{GROUP}/bundle-reference": "i",
            f"{GROUP}/extension-generation": str(generation),
            f"{GROUP}/render-inputs": f"in-{number}",
        },
    }
    if deleting:
        meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return {
        "metadata": meta,
        "spec": {"revision": number, "lifecycleState": state},
        "status": {"conditions": list(conditions)},
    }


def bundle(version: str) -> BundleIdentity:
    return BundleIdentity(name=f"p.v{version}", version=version, package="p", image="i")


@pytest.mark.parametrize(
    ("before", "version", "generation", "cause"),
    [
        ([], "1.0.0", 1, Cause.INSTALL),
        ([raw(1)], "1.1.0", 1, Cause.CATALOG),
        ([raw(1)], "1.1.0", 2, Cause.SPEC),
        ([raw(1)], "1.0.0", 2, Cause.SPEC),
        ([raw(1)], "0.9.0", 2, Cause.ROLLBACK),
        ([raw(1)], "0.9.0", 1, Cause.CATALOG),
        ([raw(1)], "1.0.0", 1, Cause.RENDERED),
        ([raw(1), raw(2, "2.0.0")], "1.0.0", 2, Cause.ROLLBACK),
        ([raw(1, "odd")], "1.0.0", 2, Cause.SPEC),
    ],
)
def test_what_made_it(
    before: list[KubeObject], version: str, generation: int, cause: Cause
) -> None:
    assert cause_of(Revisions.of(before), bundle(version), generation) is cause


RETRYING = {"type": "Progressing", "status": "True", "reason": "Retrying"}
BLOCKED = {"type": "Progressing", "status": "False", "reason": "Blocked"}


@pytest.mark.parametrize(
    ("revision", "state"),
    [
        (raw(1, "1.0.0", ROLLED_OUT), State.INSTALLED),
        (raw(1, "1.0.0", ROLLED_OUT, RETRYING), State.INSTALLED),
        (raw(1), State.ROLLING_OUT),
        (raw(1, "1.0.0", RETRYING), State.FAILED),
        (raw(1, "1.0.0", BLOCKED), State.FAILED),
        (raw(1, "1.0.0", ROLLED_OUT, state="Archived"), State.ARCHIVED),
        (raw(1, "1.0.0", state="Archived"), State.FAILED),
        (raw(1, "1.0.0", ROLLED_OUT, deleting=True), State.DELETING),
    ],
)
def test_what_has_become_of_it(revision: KubeObject, state: State) -> None:
    history = Revisions.of([revision])
    assert state_of(history.every[0], history) is state


SELF, CATALOG = UpgradeConstraintPolicy.SELF_CERTIFIED, UpgradeConstraintPolicy.CATALOG_PROVIDED


@pytest.mark.parametrize(
    ("version", "policy", "package", "found"),
    [
        ("1.0.0", SELF, "p", True),
        ("1.0.0", CATALOG, "p", False),
        ("1.0.0", SELF, "q", False),
        ("1.x", SELF, "p", False),
        ("", SELF, "p", False),
        ("3.0.0", SELF, "p", False),
    ],
)
def test_a_stored_bundle_is_asked_for_by_its_exact_version(
    version: str, policy: UpgradeConstraintPolicy, package: str, found: bool
) -> None:
    """Revision 3 never rolled out: nobody knows whether it can."""
    desired = CatalogFilter(package_name=package, version=version, upgrade_constraint_policy=policy)
    history = Revisions.of(
        [
            raw(1, "1.0.0", ROLLED_OUT, state="Archived"),
            raw(2, "2.0.0", ROLLED_OUT),
            raw(3, "3.0.0"),
        ]
    )
    assert pinned(desired, history) == (bundle("1.0.0") if found else None)


def test_equal_inputs_have_equal_content() -> None:
    history = Revisions.of([raw(1, state="Archived"), raw(2)])
    found = with_content_of("in-1", history)
    assert found is not None
    assert found.name == "e-1"
    assert with_content_of("in-9", history) is None
    assert with_content_of("in-1", Revisions.of([raw(1, deleting=True)])) is None
