"""What is other between two revisions, whatever is in their objects."""

from typing import Any

from api.objects import KubeObject
from console.revision_changes import MAX_FIELDS, MAX_OBJECTS, MAX_VALUE, compare


def _config(name: str, data: dict[str, str], kind: str = "ConfigMap") -> KubeObject:
    meta = {"name": name, "namespace": "team"}
    return {"apiVersion": "v1", "kind": kind, "metadata": meta, "data": data}


def test_objects_come_go_change_and_stay() -> None:
    old = [_config("a", {"x": "1"}), _config("b", {}), _config("c", {"y": "2"})]
    new = [_config("a", {"x": "2"}), _config("c", {"y": "2"}), _config("d", {})]
    found = compare(old, new)
    assert [(each.key.name, each.action) for each in found.changed] == [
        ("a", "changed"), ("b", "removed"), ("d", "added"),
    ]  # fmt: skip
    assert found.changed[0].fields == [("data.x", "1", "2")]
    assert (found.same, found.left_out) == (1, 0)


def test_values_of_secrets_are_not_shown() -> None:
    old, new = (_config("a", {"password": text}, "Secret") for text in ("before", "after"))
    text = str(compare([old], [new]))
    assert "before" not in text
    assert "after" not in text
    assert "data.password" in text


def test_a_label_and_its_absence() -> None:
    old, new = _config("a", {}), _config("a", {})
    new["metadata"]["labels"] = {"tier": "front"}
    fields: Any = compare([old], [new]).changed[0].fields
    assert fields == [("metadata.labels", "", '{"tier":"front"}')]


def test_changes_without_end_are_bounded() -> None:
    old = [_config("a", {f"k{number}": "x" for number in range(1000)})]
    new = [_config("a", {f"k{number}": "y" * 10**5 for number in range(1000)})]
    (changed,) = compare(old, new).changed
    assert (len(changed.fields), changed.left_out) == (MAX_FIELDS, 1000 - MAX_FIELDS)
    assert max(len(after) for _, _, after in changed.fields) == MAX_VALUE
    many = compare([], [_config(f"n{number}", {}) for number in range(1000)])
    assert (len(many.changed), many.left_out) == (MAX_OBJECTS, 1000 - MAX_OBJECTS)
