"""`olm rbac` without a cluster: what it prints, and how it refuses."""

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from e2e.olm.bundles import BundleSpec
from e2e.olm.fbc import PublishedBundle, catalog_files, package_blobs
from olm_cli.rbac import rbac
from olm_runtime.errors import OLMError


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(rbac, [*map(str, arguments)])


def write(folder: Path, spec: BundleSpec) -> Path:
    for path, data in spec.files().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return write(tmp_path / "1.0.0", BundleSpec(package="op", version="1.0.0"))


@pytest.fixture
def newer(tmp_path: Path) -> Path:
    spec = BundleSpec(package="op", version="2.0.0", configmaps=("other",), crd_group="op.example")
    return write(tmp_path / "2.0.0", spec)


@pytest.fixture
def catalog(tmp_path: Path, bundle: Path, newer: Path) -> Path:
    """A catalog whose images are the folders."""
    published = [
        PublishedBundle("op", f"op.v{folder.name}", folder.name, str(folder))
        for folder in (bundle, newer)
    ]
    for path, data in catalog_files([package_blobs(published)]).items():
        file = tmp_path / "catalog" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return tmp_path / "catalog"


def test_yaml_says_what_json_says_and_each_rule_what_it_is_for(bundle: Path) -> None:
    as_yaml, as_json = run(bundle), run(bundle, "-o", "json")
    assert as_yaml.exit_code == as_json.exit_code == 0, as_yaml.output
    objects = json.loads(as_json.output)["items"]
    assert list(yaml.safe_load_all(as_yaml.output)) == objects
    lines = as_yaml.output.splitlines()
    assert lines[0] == (
        "# op.v1.0.0: ClusterExtension op, namespace op, service account op-installer"
    )
    rules = [i for i, line in enumerate(lines) if line.startswith("- apiGroups")]
    assert len(rules) == sum(len(obj.get("rules", ())) for obj in objects) > 5
    assert all(lines[i - 1].startswith("# ") for i in rules)
    at = lines.index("# ConfigMap op-settings")
    assert lines[at : at + 4] == [
        "# ConfigMap op-settings",
        '- apiGroups: [""]',
        "  resources: [configmaps]",
        "  verbs: [create, watch]",
    ]


def test_names_are_as_asked(bundle: Path) -> None:
    shown = run(
        bundle, "--extension", "ext", "--install-namespace", "ns", "--service-account", "sa", "-o",
        "json",
    )  # fmt: skip
    objects = json.loads(shown.output)["items"]
    assert objects[0]["metadata"] == {"name": "ns"}
    labels = {"app.kubernetes.io/managed-by": "olm"}
    assert objects[1]["metadata"] == {"name": "sa", "namespace": "ns", "labels": labels}
    assert objects[2]["rules"][0]["resourceNames"] == ["ext"]


def test_the_namespace_that_a_bundle_suggests(bundle: Path) -> None:
    file = bundle / "manifests" / "csv.yaml"
    csv = yaml.safe_load(file.read_text())
    csv["metadata"]["annotations"] = {"operatorframework.io/suggested-namespace": "op-system"}
    file.write_text(yaml.safe_dump(csv))
    assert "namespace op-system" in run(bundle).output.splitlines()[0]


def test_a_tar(bundle: Path, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "op.tar", "w") as tar:
        tar.add(bundle, arcname=".")
    assert run(tmp_path / "op.tar").output == run(bundle).output


def test_a_package_of_a_catalog_on_disk(catalog: Path) -> None:
    newest = run("op", "--catalog", catalog).output
    assert newest.startswith("# op.v2.0.0 from catalog catalog: ClusterExtension op,")
    older = run("op", "--catalog", f"mine={catalog}", "--version", "1.x").output
    assert older.startswith("# op.v1.0.0 from catalog mine: ")


def test_a_difference(catalog: Path, bundle: Path, newer: Path) -> None:
    text = run("--diff", bundle, newer)
    assert text.exit_code == 0, text.output
    lines = text.output.splitlines()
    assert lines[0] == "op.v1.0.0 -> op.v2.0.0"
    added, removed = lines.index("needed in addition:"), lines.index("no longer needed:")
    assert (
        '+ Namespace:"" APIGroups:["apiextensions.k8s.io"] Resources:[customresourcedefinitions] '
        "Verbs:[create,list,watch]"
    ) in lines[added:removed]
    assert (
        '- Namespace:"op" APIGroups:[] Resources:[configmaps] ResourceNames:[op-settings] '
        "Verbs:[delete,patch,update]"
    ) in lines[removed:]
    assert run("op", "--catalog", catalog, "--diff", "1.0.0", "2.0.0").output == text.output
    data = json.loads(run("--diff", bundle, newer, "-o", "json").output)
    assert (data["from"], data["to"]) == ("op.v1.0.0", "op.v2.0.0")
    assert {o["name"] for o in data["unneeded"][-1]["objects"]} == {"op-settings"}
    same = run("--diff", bundle, bundle).output
    assert (
        same == "op.v1.0.0 -> op.v1.0.0\nneeded in addition: nothing\nno longer needed: nothing\n"
    )


def test_the_account_for_an_update(bundle: Path, newer: Path) -> None:
    shown = run(newer, "--update-from", bundle).output
    assert ", updated from op.v1.0.0\n" in shown
    assert "# until the update is through: ConfigMap op-settings\n" in shown
    assert "op-other" in shown


REFUSED = {
    "nothing is asked": ([], "give PACKAGE or BUNDLE"),
    "a bundle and two more": (["./x", "--diff", "1", "2"], "give either PACKAGE"),
    "two modes": (["op", "--check", "a", "--update-from", "1"], "give one of"),
    "objects as text": (["op", "-o", "text"], "objects are printed as yaml or json"),
}


@pytest.mark.parametrize(("arguments", "message"), REFUSED.values(), ids=REFUSED)
def test_contradictions_are_usage_errors(arguments: list[str], message: str) -> None:
    refused = run(*arguments)
    assert refused.exit_code == 2
    assert message in refused.output


def failure(*arguments: Any) -> OLMError:
    error = run(*arguments).exception
    assert isinstance(error, OLMError), error
    return error


def test_a_package_that_no_catalog_has(catalog: Path) -> None:
    error = failure("opp", "--catalog", catalog)
    assert error.message == 'no bundles found for package "opp"'
    assert error.hint == "did you mean op?"
    absent = failure("another", "--catalog", catalog)
    assert absent.hint == (
        "catalog catalog has no package of that name; olm search WORDS finds packages"
    )


def test_a_version_that_the_package_does_not_have(catalog: Path) -> None:
    error = failure("op", "--catalog", catalog, "--version", "3.x")
    assert 'no bundles found for package "op" matching version "3.x"' in error.message
    assert error.hint == "catalog catalog has versions 2.0.0, 1.0.0"


def test_a_catalog_that_is_not_there() -> None:
    assert failure("op", "--catalog", "/nowhere").message == "/nowhere: no such folder"


def test_a_bundle_that_is_not_there() -> None:
    error = failure("./nowhere")
    assert error.message == "./nowhere: no such folder or file"


def test_no_cluster() -> None:
    error = failure("op", "--kubeconfig", "/nowhere")
    assert error.message.startswith("cannot read the cluster configuration: ")
    assert "--catalog" in error.hint


@pytest.mark.parametrize(
    ("modes", "watched", "hint"),
    [
        (["AllNamespaces"], "apps", "op.v1.0.0 always watches all namespaces: leave"),
        (["OwnNamespace"], "apps", "can watch one namespace: say --watch-namespace op, its own"),
        (["OwnNamespace", "AllNamespaces"], "apps", "its own, or leave it out to have all watched"),
        (["SingleNamespace"], "op", "say --watch-namespace NS, another than its own (op)"),
        (["SingleNamespace", "OwnNamespace"], "", "can watch one namespace: say --watch-namespace"),
    ],
)
def test_what_a_bundle_can_watch_is_reported(
    modes: list[str], watched: str, hint: str, tmp_path: Path
) -> None:
    folder = write(tmp_path / "b", BundleSpec(package="op", version="1.0.0", modes=modes))
    assert hint in failure(folder, "--watch-namespace", watched).hint


def test_a_bundle_that_cannot_be_rendered(bundle: Path) -> None:
    error = failure(bundle, "--watch-namespace", "elsewhere")
    assert error.message.startswith("invalid ClusterExtension configuration: ")
    assert "--watch-namespace" in error.hint
