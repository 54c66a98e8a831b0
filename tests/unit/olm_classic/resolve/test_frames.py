"""What goes to a resolving process is enough for the same answer."""

from olm_classic.resolve.frames import needed_of
from olm_classic.resolve.installed import installed_entries

GROUPS = (
    {"metadata": {"name": "og"}, "spec": {"upgradeStrategy": "TechPreviewUnsafeFailForward"}},
)


def csv(name: str, replaces: str, phase: str) -> dict[str, object]:
    owned = [{"name": "ks.g", "version": "v1", "kind": "K", "description": "x" * 1000}]
    needed = [{"group": "h", "version": "v1", "kind": "L", "name": "l", "containerPort": 1}]
    return {
        "metadata": {"name": name, "annotations": {"alm-examples": "[]"}, "uid": "u"},
        "spec": {
            "version": "1.0.0",
            "replaces": replaces,
            "description": "x" * 1000,
            "customresourcedefinitions": {"owned": owned},
            "apiservicedefinitions": {"required": needed},
        },
        "status": {"phase": phase, "message": "x"},
    }


def test_a_csv_is_sent_without_what_is_not_read() -> None:
    csvs = [csv("a.v1", "", "Replacing"), csv("a.v2", "a.v1", "Failed")]
    csvs.append(
        {**csv("b.v1", "", "Succeeded"), "metadata": {"name": "b.v1", "labels": {"x": "y"}}}
    )
    noted = '{"properties":[{"type":"olm.gvk","value":{}}]}'
    annotated = {"operatorframework.io/properties": noted}
    csvs.append({"metadata": {"name": "c", "annotations": annotated}})
    csvs.append({"metadata": {"name": "copy", "labels": {"olm.copiedFrom": "elsewhere"}}})
    subscription = {"spec": {"name": "b"}, "status": {"installedCSV": "b.v1"}}
    sent = [needed_of(each) for each in csvs]
    full, slim = (
        [
            (e.id, e.version, e.properties)
            for e in installed_entries("ns", x, [subscription], GROUPS)
        ]
        for x in (csvs, sent)
    )
    assert [id_ for id_, _, _ in full] == [
        "@existing/ns//a.v2", "@existing/ns//b.v1", "@existing/ns//c",
    ]  # fmt: skip
    assert slim == full
    assert "x" * 1000 not in str(sent)
