"""What a release has of OLM v1 next to the chart goes with what the chart renders for it."""

from pathlib import Path
from typing import Any

import yaml

from cluster_version.payload.building import SNAPSHOT
from cluster_version.payload.release import images_of, read_images
from e2e.olm.chart import ROOT, SNAPSHOTS

FOLDER = ROOT / "config" / "release" / "olm"
RENDERED = [
    each
    for each in yaml.safe_load_all((SNAPSHOTS / "release.yaml").read_text())
    if each is not None
]
INCLUDED = {"include.release.openshift.io/self-managed-high-availability": "true"}


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def containers() -> list[Any]:
    deployments = [each for each in RENDERED if each["kind"] == "Deployment"]
    return [each["spec"]["template"]["spec"]["containers"][0] for each in deployments]


def test_the_image_of_the_chart_is_one_of_the_release() -> None:
    images = images_of(read_images((FOLDER / "image-references").read_bytes()))
    assert {each["image"] for each in containers()} == set(images.values())
    assert set(images) == {"olm"}


def test_the_release_waits_for_the_version_that_the_program_is_given() -> None:
    environment = [
        (each["command"], item["value"])
        for each in containers()
        for item in each.get("env", ())
        if item["name"] == "OPERATOR_IMAGE_VERSION"
    ]
    [version] = read(FOLDER / "0000_30_olm_09_clusteroperator.yaml")["status"]["versions"]
    assert version == {"name": "operator", "version": SNAPSHOT.decode()}
    assert environment == [(["operator-controller"], SNAPSHOT.decode())]


def test_the_namespace_is_the_same_as_without_a_release() -> None:
    namespace = read(FOLDER / "0000_30_olm_01_namespace.yaml")
    assert namespace["metadata"].pop("annotations") == INCLUDED
    assert namespace == read(ROOT / "config" / "rbac" / "namespace.yaml")
    placed = {each["metadata"].get("namespace") for each in RENDERED} - {None, "default"}
    assert placed == {namespace["metadata"]["name"]}


def test_nobody_writes_what_the_release_has() -> None:
    """Neither hooks of Helm, which nobody runs, nor what operator-controller fills in."""
    assert not [each for each in RENDERED if "helm.sh/hook" in str(each["metadata"])]
    assert not [each for each in RENDERED if each["kind"].endswith("WebhookConfiguration")]
