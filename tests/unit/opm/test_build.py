"""`opm build`: what is in the image, that it is always the same, and what is refused."""

import gzip
import hashlib
import io
import json
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from olm_runtime.errors import OLMError
from opm.__main__ import cli
from opm.image import parse_platforms
from opm.io.building import add_image
from opm.io.layout import Layout
from opm.io.serving import add_serving_catalog
from tests.unit.opm.bundles import ANNOTATIONS, files

REF = "registry.example.com/team/it:v1"
CATALOG = {
    "hello/index.yaml": b"schema: example.com/x\n",
    ".indexignore": b"*.txt\n",
    "notes.txt": b"",
}


def opm(*arguments: Any) -> Result:
    return CliRunner().invoke(cli, [*map(str, arguments)])


def error_of(result: Result) -> OLMError:
    assert isinstance(result.exception, OLMError), result.exception
    return result.exception


def write(root: Path, content: dict[str, bytes]) -> Path:
    for path, data in content.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return root


class Built:
    """An image in a layout."""

    def __init__(self, layout: Path, tag: str = "v1") -> None:
        self.layout = layout
        entries = json.loads((layout / "index.json").read_bytes())["manifests"]
        named = {e["annotations"]["org.opencontainers.image.ref.name"]: e for e in entries}
        self.root = named[tag]

    def blob(self, descriptor: dict[str, Any]) -> bytes:
        path = self.layout / "blobs" / str(descriptor["digest"]).replace(":", "/")
        data = path.read_bytes()
        assert descriptor["digest"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
        assert descriptor["size"] == len(data)
        return data

    def json(self, descriptor: dict[str, Any]) -> Any:
        return json.loads(self.blob(descriptor))

    def images(self) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """Manifest and configuration of each platform."""
        root = self.json(self.root)
        manifests = [self.json(m) for m in root["manifests"]] if "manifests" in root else [root]
        return [(manifest, self.json(manifest["config"])) for manifest in manifests]

    def archive(self) -> bytes:
        (manifest, config), *_ = self.images()
        data = gzip.decompress(self.blob(manifest["layers"][0]))
        assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(data).hexdigest()}"]
        return data


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    return write(tmp_path / "catalog", CATALOG)


def test_a_catalog_lies_below_configs(catalog: Path, tmp_path: Path) -> None:
    result = opm("build", catalog, "-t", REF, "-o", tmp_path / "layout", "-l", "a=b")
    built = Built(tmp_path / "layout")
    assert result.stdout == f"registry.example.com/team/it@{built.root['digest']}\n"
    assert [(c["os"], c["architecture"]) for _, c in built.images()] == [
        ("linux", "amd64"),
        ("linux", "arm64"),
        ("linux", "ppc64le"),
        ("linux", "s390x"),
    ]
    assert len({m["layers"][0]["digest"] for m, _ in built.images()}) == 1
    for _, config in built.images():
        assert config["config"]["Labels"] == {
            "operators.operatorframework.io.index.configs.v1": "/configs",
            "a": "b",
        }
    (tmp_path / "layer.tar").write_bytes(built.archive())
    with tarfile.open(tmp_path / "layer.tar") as archive:
        members = archive.getmembers()
        assert [member.name for member in members] == [
            "configs",
            "configs/.indexignore",
            "configs/hello",
            "configs/hello/index.yaml",
            "configs/notes.txt",
        ]
        assert {(m.mtime, m.uid, m.gid, m.uname, m.gname) for m in members} == {(0, 0, 0, "", "")}
        index = archive.extractfile("configs/hello/index.yaml")
        assert index is not None
        assert index.read() == CATALOG["hello/index.yaml"]


def test_the_same_files_have_the_same_digest(tmp_path: Path) -> None:
    first = write(tmp_path / "one", CATALOG)
    second = write(tmp_path / "two", dict(reversed(CATALOG.items())))
    os.utime(second / "notes.txt", (1, 1))
    (second / "notes.txt").chmod(0o600)
    printed = {
        opm("build", folder, "-t", REF, "-o", tmp_path / f"{folder.name}.layout").stdout
        for folder in (first, second)
    }
    assert len(printed) == 1
    (second / "notes.txt").write_text("changed")
    changed = opm("build", second, "-t", REF, "-o", tmp_path / "three")
    assert changed.exit_code == 0
    assert changed.stdout not in printed


def test_one_platform_needs_no_index(catalog: Path, tmp_path: Path) -> None:
    opm("build", catalog, "-t", REF, "-o", tmp_path / "layout", "--platform", "linux/arm64")
    built = Built(tmp_path / "layout")
    assert built.root["mediaType"] == "application/vnd.oci.image.manifest.v1+json"
    assert built.images()[0][1]["architecture"] == "arm64"


def test_a_catalog_on_top_of_an_image_with_opm_serves_itself(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "layout")
    (tmp_path / "opm").write_bytes(b"a program")
    platforms = parse_platforms("linux/amd64,linux/arm64")
    base = add_image(layout, {"bin/opm": tmp_path / "opm"}, {"a": "base", "b": "base"}, platforms)
    catalog = write(tmp_path / "catalog", CATALOG)
    wanted = parse_platforms("linux/s390x,linux/arm64")
    made = add_serving_catalog(layout, catalog, {"b": "given"}, wanted, base)
    layout.name(made, ["v1"])
    [(manifest, config)] = Built(layout.root).images()
    assert config["architecture"] == "arm64"
    assert config["config"]["Entrypoint"] == ["/bin/opm"]
    assert config["config"]["Cmd"][:2] == ["serve", "/configs"]
    labels = {"operators.operatorframework.io.index.configs.v1": "/configs"}
    assert config["config"]["Labels"] == {"a": "base", "b": "given", **labels}
    layers = [gzip.decompress(Built(layout.root).blob(each)) for each in manifest["layers"]]
    assert config["rootfs"]["diff_ids"] == [
        f"sha256:{hashlib.sha256(each).hexdigest()}" for each in layers
    ]
    with tarfile.open(fileobj=io.BytesIO(layers[-1])) as archive:
        assert archive.getnames()[-1] == "configs/notes.txt"


def test_a_base_image_for_other_machines_is_refused(catalog: Path, tmp_path: Path) -> None:
    layout = Layout(tmp_path / "layout")
    [platform] = amd64 = parse_platforms("linux/amd64")
    base = add_image(layout, {}, {}, amd64)
    with pytest.raises(OLMError, match=f"the base image is for {platform}"):
        add_serving_catalog(layout, catalog, {}, parse_platforms("linux/arm64"), base)


def test_a_bundle_is_known_by_its_labels(tmp_path: Path) -> None:
    said = {**ANNOTATIONS["annotations"], "on": True, "count": 3}
    content = files({"metadata/annotations.yaml": {"annotations": said}})
    bundle = write(tmp_path / "bundle", {**content, "Dockerfile": b"", "tests/a.yaml": b""})
    opm("build", bundle, "-t", REF, "-o", tmp_path / "layout", "--platform=linux/amd64")
    built = Built(tmp_path / "layout")
    assert built.images()[0][1]["config"]["Labels"] == {
        "operators.operatorframework.io.bundle.mediatype.v1": "registry+v1",
        "operators.operatorframework.io.bundle.manifests.v1": "manifests/",
        "operators.operatorframework.io.bundle.metadata.v1": "metadata/",
        **ANNOTATIONS["annotations"],
        "on": "true",
        "count": "3",
    }
    (tmp_path / "layer.tar").write_bytes(built.archive())
    with tarfile.open(tmp_path / "layer.tar") as archive:
        assert [member.name for member in archive if member.isfile()] == [
            "manifests/crd.yaml",
            "manifests/csv.yaml",
            "metadata/annotations.yaml",
            "tests/a.yaml",
        ]


def test_what_was_made_is_shown_as_data(catalog: Path, tmp_path: Path) -> None:
    to = ("-o", tmp_path / "layout", "-t", REF)
    lines = opm("build", catalog, *to).stdout
    document = json.loads(opm("build", catalog, *to, "--output", "json").stdout)
    assert [f"{image}\n" for image in document["images"]] == [lines]
    assert lines.endswith(f"@{document['digest']}\n")
    assert (document["kind"], document["pushed"]) == ("catalog", False)
    index = tmp_path / "layout" / "blobs" / "sha256" / document["digest"].removeprefix("sha256:")
    assert index.stat().st_size == document["size"]


def test_a_layout_takes_further_images(catalog: Path, tmp_path: Path) -> None:
    layout = tmp_path / "layout"
    opm("build", catalog, "-t", REF, "-t", "example.com/other:v2", "-o", layout)
    first = Built(layout).root["digest"]
    (catalog / "notes.txt").write_text("changed")
    opm("build", catalog, "-t", REF, "-o", layout)
    assert Built(layout, "v2").root["digest"] == first
    assert Built(layout, "v1").root["digest"] != first


def test_faults_are_reported_before_anything_is_built(catalog: Path, tmp_path: Path) -> None:
    (catalog / "b.yaml").write_text("schema: olm.package\nname: a\n")
    result = opm("build", catalog, "-t", REF, "-o", tmp_path / "layout")
    assert result.exit_code == 1
    assert 'b.yaml:1: package "a"' in result.stderr
    assert not (tmp_path / "layout").exists()
    assert (
        opm("build", catalog, "-t", REF, "-o", tmp_path / "layout", "--no-validate").exit_code == 0
    )


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("-t", REF), "the image would go nowhere"),
        (("-t", "it:v1", "-o", "layout"), 'parsing image reference "it:v1"'),
        (("-t", f"{REF}@sha256:{'0' * 64}", "-o", "layout"), "digest is known when"),
        (("-t", REF, "-o", "layout", "--platform", "amd64"), 'platform "amd64" is none'),
        (("-t", REF, "-o", "layout", "-l", "x"), 'label "x" is none'),
        (("-t", REF, "-o", "catalog"), "is there and is no OCI image layout"),
    ],
)
def test_wrong_input_is_reported(
    arguments: tuple[str, ...],
    fault: str,
    catalog: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert fault in error_of(opm("build", catalog, *arguments)).message


def test_folders_that_make_no_image(catalog: Path, tmp_path: Path) -> None:
    (catalog / "link").symlink_to(catalog / "notes.txt")
    arguments = ("-t", REF, "-o", tmp_path / "layout", "--no-validate")
    assert "is a link" in error_of(opm("build", catalog, *arguments)).message
    assert "no such directory" in error_of(opm("build", tmp_path / "none", *arguments)).message


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"metadata/annotations.yaml": {"annotations": {}}}, "could not find annotations file"),
        ({"manifests/csv.yaml": None}, "no csv in bundle"),
    ],
)
def test_bundles_that_no_catalog_could_have(
    changes: dict[str, Any], fault: str, tmp_path: Path
) -> None:
    bundle = write(tmp_path / "bundle", files(changes))
    error = error_of(opm("build", bundle, "-t", REF, "-o", tmp_path / "layout"))
    assert fault in error.message


@pytest.mark.parametrize(
    ("annotations", "fault"),
    [
        ({}, "does not say operators.operatorframework.io.bundle.package.v1"),
        # 1.10 would be 1.1
        ({**ANNOTATIONS["annotations"], "x": 1.10}, "x is no text"),
    ],
)
def test_labels_that_cannot_be_evaluated(
    annotations: dict[str, Any], fault: str, tmp_path: Path
) -> None:
    changes = {"metadata/annotations.yaml": {"annotations": annotations}}
    bundle = write(tmp_path / "bundle", files(changes))
    arguments = ("-t", REF, "-o", tmp_path / "layout", "--no-validate")
    assert fault in error_of(opm("build", bundle, *arguments)).message
