"""`olm bundle validate` and `show`: all faults with their files, from folders and archives."""

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from olm_cli.bundle import bundle

ANNOTATIONS = "annotations: {operators.operatorframework.io.bundle.package.v1: example}\n"
CSV = """
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: example.v1.0.0}
spec:
  displayName: Example
  version: 1.0.0
  installModes: [{type: AllNamespaces, supported: true}]
  relatedImages: [{name: proxy, image: registry.example.com/proxy:v1}]
  customresourcedefinitions: {owned: [{name: things.example.com, kind: Thing, version: v1}]}
  webhookdefinitions:
    - type: ValidatingAdmissionWebhook
      generateName: check.example.com
      deploymentName: operator
      containerPort: 9443
      sideEffects: None
      admissionReviewVersions: [v1]
  install:
    strategy: deployment
    spec:
      clusterPermissions:
        - serviceAccountName: operator
          rules: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]
      deployments:
        - name: operator
          spec:
            selector: {matchLabels: {app: operator}}
            template:
              metadata: {labels: {app: operator}}
              spec:
                containers: [{name: operator, image: "registry.example.com/operator:v1"}]
"""
CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {kind: Thing, plural: things}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true}]
"""


def write(folder: Path, **files: str | None) -> Path:
    """A bundle; `manifests__x` becomes `manifests/x.yaml`, None leaves a file out."""
    content = {"metadata__annotations": ANNOTATIONS, "manifests__csv": CSV, "manifests__crd": CRD}
    for name, text in (content | files).items():
        if text is not None:
            path = folder / f"{name.replace('__', '/')}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    return folder


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(bundle, [str(argument) for argument in arguments])


def faults_of(folder: Path) -> list[tuple[str, str]]:
    result = run("validate", folder, "-o", "json")
    answer = json.loads(result.output)
    assert result.exit_code == (0 if answer["valid"] else 1)
    return [(fault["file"], fault["message"]) for fault in answer["faults"]]


def test_a_sound_bundle_has_no_faults(tmp_path: Path) -> None:
    assert faults_of(write(tmp_path)) == []
    result = run("validate", tmp_path)
    assert (result.exit_code, result.output) == (0, f"{tmp_path}: no faults\n")


def test_all_faults_are_reported_at_once_with_their_files(tmp_path: Path) -> None:
    write(
        tmp_path,
        metadata__annotations=None,
        manifests__twice="{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, k: a, k: b}",
        manifests__broken="a: [",
        manifests__label="{apiVersion: v1, kind: Secret, metadata: {name: s, labels: {v: 1}}}",
    )
    found = dict(faults_of(tmp_path))
    assert sorted(found) == [
        "manifests/broken.yaml",
        "manifests/label.yaml",
        "manifests/twice.yaml",
        "metadata/annotations.yaml",
    ]
    assert 'key "k" already set in map' in found["manifests/twice.yaml"]
    assert "labels.v" in found["manifests/label.yaml"]


@pytest.mark.parametrize(
    ("files", "file", "message"),
    [
        pytest.param(
            {"manifests__crd": None},
            "manifests/csv.yaml",
            "cluster service definition references owned custom resource definition "
            "'things.example.com' not found in bundle",
            id="one of the thirteen checks",
        ),
        pytest.param(
            {"manifests__r": "{apiVersion: r/v1, kind: Route, metadata: {name: r}}"},
            "",
            'unsupported resource "r" with kind "Route"',
            id="a kind that is not supported",
        ),
        pytest.param(
            {"manifests__csv2": CSV},
            "manifests/csv2.yaml",
            "2 ClusterServiceVersions: only the last counts",
            id="two service versions",
        ),
        pytest.param(
            {"metadata__dependencies": "dependencies: [{type: olm.package, value: {}}]"},
            "",
            "unsupported bundle: it depends on olm.package, and OLM v1 installs no dependencies",
            id="a dependency",
        ),
        pytest.param(
            {"manifests__csv": CSV.replace("supported: true", "supported: false")},
            "manifests/csv.yaml",
            "unsupported bundle: bundle must support at least one of [AllNamespaces "
            "SingleNamespace OwnNamespace] install modes",
            id="no install mode",
        ),
        pytest.param(
            {"manifests__csv": None},
            "",
            'no ClusterServiceVersion found in "manifests"',
            id="no service version",
        ),
    ],
)
def test_each_fault_names_its_file(
    tmp_path: Path, files: dict[str, str | None], file: str, message: str
) -> None:
    assert (file, message) in faults_of(write(tmp_path, **files))


def test_what_cannot_be_read_is_no_verdict(tmp_path: Path) -> None:
    result = run("validate", tmp_path / "none")
    assert result.exit_code == 2
    assert "no such folder or file" in result.output


@pytest.mark.parametrize("mode", ["w", "w:gz"])
@pytest.mark.parametrize("root", [".", "bundle-1.0.0"])
def test_archives_are_bundles_too(tmp_path: Path, mode: Any, root: str) -> None:
    folder = write(tmp_path / "folder")
    archive = tmp_path / "bundle.tar"
    with tarfile.open(archive, mode) as tar:
        tar.add(folder, root)
    assert run("validate", archive).exit_code == 0
    options = ("--install-namespace", "ns", "-o", "json")
    assert run("render", archive, *options).output == run("render", folder, *options).output


def test_an_archive_that_leaves_its_folder_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "bundle.tar"
    with tarfile.open(archive, "w") as tar:
        tar.addfile(tarfile.TarInfo("../outside"))
    result = run("show", archive)
    assert result.exit_code == 1
    assert "bundle.tar" in result.output


def test_a_file_that_is_no_archive_is_reported(tmp_path: Path) -> None:
    (tmp_path / "hostname").write_text("box\n")
    result = run("validate", tmp_path / "hostname")
    assert result.exit_code == 2
    assert "hostname is neither a folder nor a tar of a bundle: " in result.output
    assert "give a bundle's folder, a tar of it, or an image reference" in result.output


def test_an_empty_folder_below_manifests_is_one_too(tmp_path: Path) -> None:
    folder = write(tmp_path)
    (folder / "manifests" / "sub").mkdir()
    assert 'found "manifests/sub"' in run("validate", folder).output


def test_show_says_what_is_in_it(tmp_path: Path) -> None:
    found = json.loads(run("show", write(tmp_path), "-o", "json").output)
    assert (found["package"], found["version"]) == ("example", "1.0.0")
    assert found["installModes"] == ["AllNamespaces"]
    assert found["apis"]["defined"] == [
        {"name": "things.example.com", "kind": "Thing", "served": ["v1"]}
    ]
    assert found["images"] == ["registry.example.com/operator:v1"]
    assert found["relatedImages"] == [{"name": "proxy", "image": "registry.example.com/proxy:v1"}]
    assert [hook["type"] for hook in found["webhooks"]] == ["ValidatingAdmissionWebhook"]
    assert run("show", tmp_path).output.splitlines() == [
        "example.v1.0.0 (package example, version 1.0.0)",
        "install modes: AllNamespaces",
        "APIs:",
        "  things.example.com (v1)",
        "cluster permissions:",
        "  operator: get,list pods in core",
        "images:",
        "  registry.example.com/operator:v1",
        "related images:",
        "  registry.example.com/proxy:v1",
        "webhooks:",
        "  ValidatingAdmissionWebhook check.example.com",
    ]
