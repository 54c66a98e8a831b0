"""What is shown of the objects of a revision that rolls out."""

from olm_client.lifecycle.live_objects import LiveObject
from olm_client.lifecycle.readiness import readiness_lines


def found(name: str, fault: str = "", *, deleting: bool = False) -> LiveObject:
    meta = {"name": name, "namespace": "ns"}
    obj = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta}
    live = {**obj, "metadata": {**meta, "deletionTimestamp": "now"}} if deleting else obj
    return LiveObject(obj, live, fault)


def test_all_are_ready_or_there_are_none() -> None:
    assert readiness_lines([]) == []
    assert readiness_lines([found("a"), found("b")]) == ["2 of 2 objects ready"]


def test_the_first_are_named_with_their_own_reason() -> None:
    objects = [found("a"), *(found(f"d{n}", f"0/{n} available\nmore") for n in range(1, 6))]
    assert readiness_lines(objects) == [
        "1 of 6 objects ready",
        "  waits for Deployment ns/d1: 0/1 available",
        "  waits for Deployment ns/d2: 0/2 available",
        "  waits for Deployment ns/d3: 0/3 available",
        "  and 2 more",
    ]


def test_one_that_goes_has_no_fault_of_its_own() -> None:
    assert readiness_lines([found("a", deleting=True)])[1:] == [
        "  waits for Deployment ns/a: is being deleted"
    ]
