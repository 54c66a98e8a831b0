"""How a live Deployment becomes what its ClusterServiceVersion wants."""

from typing import Any

from api.objects import KubeObject
from olm_classic.io.csv_deployments import RESTARTED_AT, patch_to

OWN = {"kind": "ClusterServiceVersion", "name": "op.v2", "uid": "2"}


def deployment(
    *,
    labels: dict[str, str] | None = None,
    references: list[dict[str, str]] | None = None,
    annotations: dict[str, str] | None = None,
    **spec: Any,
) -> KubeObject:
    template: dict[str, Any] = {"spec": {}}
    if annotations is not None:
        template["metadata"] = {"annotations": annotations}
    meta = {"name": "d", "resourceVersion": "7", "labels": labels or {}}
    return {
        "metadata": {**meta, "ownerReferences": references or []},
        "spec": {"template": template, **spec},
    }


def changes(wanted: KubeObject, live: KubeObject) -> dict[str, Any]:
    """But for the version, which is always pinned."""
    version, *patch = patch_to(wanted, live)
    assert version == {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"}
    return {each["path"]: each["value"] for each in patch}


def test_its_specification_is_replaced_as_a_whole() -> None:
    wanted = deployment(references=[OWN], replicas=2)
    live = deployment(references=[OWN], replicas=7, paused=True)
    assert changes(wanted, live) == {"/spec": wanted["spec"]}


def test_what_scales_and_restarts_it_stays() -> None:
    wanted = deployment(references=[OWN], annotations={"a": "1"})
    live = deployment(references=[OWN], annotations={RESTARTED_AT: "t", "b": "2"}, replicas=7)
    spec = changes(wanted, live)["/spec"]
    assert spec["replicas"] == 7
    assert spec["template"]["metadata"]["annotations"] == {RESTARTED_AT: "t", "a": "1"}


def test_labels_of_others_stay() -> None:
    wanted = deployment(labels={"olm.owner": "op.v2", "a/b": "1", "same": "x"}, references=[OWN])
    live = deployment(labels={"olm.owner": "op.v1", "theirs": "y", "same": "x"}, references=[OWN])
    found = changes(wanted, live)
    del found["/spec"]
    assert found == {"/metadata/labels/olm.owner": "op.v2", "/metadata/labels/a~1b": "1"}
    bare = deployment(references=[OWN])
    assert changes(wanted, bare)["/metadata/labels"] == wanted["metadata"]["labels"]


def test_it_passes_from_one_version_to_the_next() -> None:
    before = {"kind": "ClusterServiceVersion", "name": "op.v1", "uid": "1"}
    other = {"kind": "Thing", "name": "t", "uid": "3"}
    found = changes(deployment(references=[OWN]), deployment(references=[before, other]))
    assert found["/metadata/ownerReferences"] == [other, OWN]
