"""What is remembered of a revision ends with it, or with an object of its name made anew."""

from operator_controller.apply.revisions import Revision, parse_revision
from operator_controller.controllers.per_revision import PerRevision


def revision(uid: str, name: str = "ext-1") -> Revision:
    return parse_revision({"metadata": {"name": name, "uid": uid}})


def test_a_record_is_that_of_one_object() -> None:
    records: PerRevision[list[str]] = PerRevision(list)
    assert records.get("ext-1") is None
    records.of(revision("a")).append("known")
    records.of(revision("b", name="ext-2"))
    assert records.of(revision("a")) == records.get("ext-1") == ["known"]
    assert records.of(revision("anew")) == []


def test_a_record_can_be_dropped() -> None:
    records: PerRevision[list[str]] = PerRevision(list)
    records.of(revision("a")).append("known")
    records.forget("ext-1")
    records.forget("ext-1")
    assert records.get("ext-1") is None
