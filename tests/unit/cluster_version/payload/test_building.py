"""Releases made of folders, and read again as a cluster reads them."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from cluster_version.names import DEFAULT_PROFILE, INCLUDE_PREFIX
from cluster_version.payload.building import Component, Draft, file_name, files_of, ignored
from cluster_version.payload.contents import load
from cluster_version.payload.inclusion import Filters
from cluster_version.payload.release import ReleaseError
from cluster_version.payload.summary import summary, summary_lines

FILTERS = Filters(exclude="", feature_set="", profile=DEFAULT_PROFILE, feature_gates=())
ALPHA = f"registry.example.com/alpha@sha256:{'a' * 64}"


def manifest(name: str, **data: str) -> bytes:
    annotations = {f"{INCLUDE_PREFIX}{DEFAULT_PROFILE}": "true"}
    metadata = {"name": name, "namespace": "n", "annotations": annotations}
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    return json.dumps(made).encode()


def references(**images: str) -> bytes:
    tags = [{"name": name, "from": {"name": image}} for name, image in images.items()]
    stream = {"kind": "ImageStream", "apiVersion": "image.openshift.io/v1", "spec": {"tags": tags}}
    return json.dumps(stream).encode()


def draft(**files: bytes) -> Draft:
    named = {name.replace("__", "."): content for name, content in files.items()}
    return Draft(
        version="1.0.1",
        created=datetime(2026, 1, 1, tzinfo=UTC),
        components=(Component("alpha", named),),
        images={"alpha": ALPHA},
        previous=("1.0.0",),
        metadata={"url": "https://example.com"},
    )


def test_a_release_that_is_made_can_be_loaded() -> None:
    wanted = draft(a__yaml=manifest("a"), README__md=b"no manifest")
    wanted = replace(wanted, operator={"0000_00_b.yaml": manifest("b", image="{{.ReleaseImage}}")})
    files = files_of(wanted)
    payload = load(files, "release@sha256:0", FILTERS, machine="amd64", folder="/payload")
    assert [each.file_name for each in payload.manifests] == [
        "0000_00_b.yaml",
        "0000_50_alpha_a.yaml",
    ]
    assert payload.manifests[0].object["data"] == {"image": "release@sha256:0"}
    assert (payload.release.version, payload.release.url) == ("1.0.1", "https://example.com")
    assert files == files_of(wanted)


def test_a_release_without_an_operator_can_be_loaded_too() -> None:
    files = files_of(draft(a__yaml=manifest("a")))
    payload = load(files, "release@sha256:0", FILTERS, machine="amd64", folder="/payload")
    assert [each.file_name for each in payload.manifests] == ["0000_50_alpha_a.yaml"]


def test_what_is_in_a_release_is_reported() -> None:
    found = summary(files_of(draft(a__yaml=manifest("a"))))
    assert found == {
        "version": "1.0.1",
        "created": "2026-01-01T00:00:00Z",
        "previous": ["1.0.0"],
        "metadata": {"url": "https://example.com"},
        "manifests": 1,
        "images": {"alpha": ALPHA},
    }
    text = "\n".join(summary_lines("release@sha256:0", "sha256:0", found))
    assert "Pull From: release@sha256:0" in text
    assert f"  alpha  {ALPHA}" in text
    with pytest.raises(ReleaseError, match="it is no release image"):
        summary({})


def test_names_say_when_a_file_is_applied() -> None:
    assert file_name("alpha", "0000_20_alpha_01_a.yaml") == "0000_20_alpha_01_a.yaml"
    assert file_name("alpha", "a.yaml") == "0000_50_alpha_a.yaml"
    assert file_name("alpha", "0000_2_a.yaml") == "0000_50_alpha_0000_2_a.yaml"


def test_images_and_versions_of_components_are_replaced() -> None:
    content = manifest(
        "a",
        image="example.com/alpha:dev",
        other="example.com/alpha:dev2 my.example.com/alpha:dev example.com/alpha:dev.x",
        version="0.0.1-snapshot",
        its_own="0.0.1-snapshot-alpha",
    )
    made = draft(a__yaml=content)
    images = {"image-references": references(alpha="example.com/alpha:dev")}
    files = {**made.components[0].files, **images}
    made = replace(made, components=(Component("alpha", files),))
    found = json.loads(files_of(made)["release-manifests/0000_50_alpha_a.yaml"])["data"]
    assert (found["image"], found["version"]) == (ALPHA, "1.0.1")
    assert found["its_own"] == "0.0.1-snapshot-alpha"
    assert "sha256" not in found["other"]


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"version": "1.0"}, '"1.0" is no version'),
        ({"previous": ("x",)}, '"x" is no version'),
        ({"images": {"alpha": "example.com/alpha:1"}}, "does not name a digest"),
        ({"images": {"alpha": ""}}, "image alpha: nothing does not name a digest"),
        ({"components": ()}, "there are no manifests"),
        ({"components": (Component("a", {"a.yaml": b"kind: x"}),)}, "a/a.yaml: "),
        (
            {"components": (Component("a", {"a.yaml": b"", "image-references": b"x"}),)},
            "image-references",
        ),
        (
            {"components": (Component("a", {"image-references": references(beta="b")}),)},
            "wants an image beta, and the release has none",
        ),
        (
            {
                "components": [
                    Component(name, {"0000_20_a_b.yaml": manifest(name)}) for name in ("a", "b")
                ]
            },
            "b/0000_20_a_b.yaml: there are two files 0000_20_a_b.yaml",
        ),
    ],
)
def test_what_no_cluster_would_take_is_refused(changed: dict[str, object], problem: str) -> None:
    with pytest.raises(ReleaseError, match=problem):
        files_of(replace(draft(a__yaml=manifest("a")), **changed))  # type: ignore[arg-type]


def test_manifests_that_no_cluster_applies_are_named() -> None:
    plain = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"
    component = Component("alpha", {"a.yaml": manifest("a"), "b.yaml": plain, "c.md": b""})
    named = 'alpha/b.yaml: Group: "" Kind: "ConfigMap" Name: "b"'
    assert list(ignored([component])) == [named]
