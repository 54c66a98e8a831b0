"""What goes with an update, and what is said of it once its objects were counted."""

import pytest

from api.objects import GVK, KubeObject
from olm_content.crds.going import Count, everything_going, finding, removed, unserved
from tests.unit.olm_content.crds.definitions import NAME, definition, version


def live(*served: str, unserved: tuple[str, ...] = (), stored: tuple[str, ...] = ()) -> KubeObject:
    versions = [version(name, {}) for name in served]
    versions += [version(name, {}, served=False) for name in unserved]
    crd = definition(*versions, stored=stored)
    conditions = [{"type": "Established", "status": "True"}]
    return {**crd, "status": {**crd.get("status", {}), "conditions": conditions}}


@pytest.mark.parametrize(
    ("old", "new", "versions"),
    [
        pytest.param(
            live("v1", stored=("v1",)), live("v2", unserved=("v1",)), ["v1"], id="stored in it"
        ),
        pytest.param(
            live("v2", "v1", stored=("v2",)), live("v2", unserved=("v1",)), [], id="never stored"
        ),
        pytest.param(
            live("v2", unserved=("v1",), stored=("v1", "v2")),
            live("v2", unserved=("v1",)),
            [],
            id="not served before either",
        ),
        pytest.param(
            live("v1", stored=("v1",)), live("v2"), [], id="taken away: refused without counting"
        ),
        pytest.param(
            live("v1beta1", unserved=("v1",), stored=("v1",)),
            live(unserved=("v1", "v1beta1")),
            [""],
            id="the only one that is served",
        ),
        pytest.param(live("v1", stored=("v1",)), live("v2", "v1"), [], id="one more"),
    ],
)
def test_versions_in_which_objects_may_be_stored_stay_served(
    old: KubeObject, new: KubeObject, versions: list[str]
) -> None:
    assert [going.version for going in unserved(old, new)] == versions


def test_a_definition_goes_once() -> None:
    crd = live("v1")
    deleted = {**crd, "metadata": {**crd["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    assert removed(deleted) is None
    assert removed(definition(version("v1", {}))) is None, "it was never established"
    (going,) = everything_going({NAME: crd}, {})
    assert (going.crd, going.kind) == (NAME, GVK("test.example.com", "v1", "Sample"))
    assert everything_going({NAME: crd}, {NAME: crd}) == ()


@pytest.mark.parametrize(
    ("old", "kind"),
    [
        (live("v1", "v2"), "v1"),
        (live("v2", unserved=("v1",)), "v2"),
        (live(unserved=("v1",)), None),
    ],
)
def test_objects_are_read_in_a_version_that_is_served(old: KubeObject, kind: str | None) -> None:
    going = removed(old)
    assert going is not None
    assert (going.kind.version if going.kind else None) == kind


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (Count(), None),
        (Count(1, names=("a/x",)), "and 1 object would be deleted with it: a/x"),
        (
            Count(5, names=("a/x", "a/y", "b/z")),
            "and 5 objects would be deleted with it: a/x, a/y, b/z and 2 more",
        ),
        (
            Count(3, exact=False, names=("a/x", "a/y", "b/z")),
            "and at least 3 objects would be deleted with it: a/x, a/y, b/z and more",
        ),
        (Count(fault="why"), "how many objects would be deleted with it is not known: why"),
    ],
)
def test_what_is_said_of_a_count(count: Count, said: str | None) -> None:
    going = removed(live("v1"))
    assert going is not None
    found = finding(going, count)
    assert (found is None) == (said is None)
    assert found is None or found.message.endswith(said or "")
