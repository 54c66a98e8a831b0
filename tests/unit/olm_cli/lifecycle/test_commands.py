"""What the commands do without a cluster: print objects, complete words, refuse."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from e2e.olm.bundles import BundleSpec
from e2e.olm.fbc import PublishedBundle, catalog_files, package_blobs
from olm_cli import __main__ as front
from olm_client.catalogs import quick_list
from olm_client.reach import Reach
from olm_runtime.errors import OLMError


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(front.cli, [*map(str, arguments)])


def failure(*arguments: Any) -> OLMError:
    error = run(*arguments).exception
    assert isinstance(error, OLMError), error
    return error


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A catalog whose image is a folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    files = {
        Path("bundle") / path: data
        for path, data in BundleSpec(package="op", version="1.0.0").files().items()
    }
    published = PublishedBundle("op", "op.v1.0.0", "1.0.0", str(tmp_path / "bundle"))
    files |= {
        Path("cat") / path: data
        for path, data in catalog_files([package_blobs([published])]).items()
    }
    for path, data in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    return tmp_path / "cat"


def test_objects_are_printed_without_a_cluster(catalog: Path) -> None:
    as_yaml = run("install", "op", "--catalog", catalog, "--dry-run", "--version", "1.x")
    assert as_yaml.exit_code == 0, as_yaml.output
    assert as_yaml.output.startswith("# op.v1.0.0 from catalog cat: ClusterExtension op, ")
    objects = [*yaml.safe_load_all(as_yaml.output)]
    assert [obj["kind"] for obj in objects] == [
        *("Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding"),
        *("Role", "RoleBinding", "ClusterExtension"),
    ]
    assert objects[-1]["spec"] == {
        "namespace": "op",
        "serviceAccount": {"name": "op-installer"},
        "source": {
            "sourceType": "Catalog",
            "catalog": {"packageName": "op", "version": "1.x"},
        },
    }
    as_json = run("install", "op", "--catalog", catalog, "--dry-run", "--version=1.x", "-o", "json")
    assert json.loads(as_json.output)["items"] == objects


def test_names_and_fields_are_as_asked(catalog: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("deploymentConfig: {nodeSelector: {disk: ssd}}\n")
    shown = run(
        "install", "op", "--catalog", catalog, "--dry-run", "--no-account", "--extension", "ext",
        "-n", "place", "--service-account", "mine", "--config", config, "--channel", "stable",
        "--upgrade-constraint-policy", "SelfCertified", "--crd-upgrade-safety", "None",
    )  # fmt: skip
    [only] = yaml.safe_load_all(shown.output)
    assert only["metadata"] == {"name": "ext"}
    spec = only["spec"]
    assert (spec["namespace"], spec["serviceAccount"]) == ("place", {"name": "mine"})
    assert spec["config"]["inline"] == {"deploymentConfig": {"nodeSelector": {"disk": "ssd"}}}
    assert spec["install"] == {"preflight": {"crdUpgradeSafety": {"enforcement": "None"}}}
    assert spec["source"]["catalog"]["channels"] == ["stable"]


def test_a_package_that_is_not_there_is_reported_with_one_that_is(catalog: Path) -> None:
    error = failure("install", "ops", "--catalog", catalog, "--dry-run")
    assert (error.message, error.hint) == (
        'no bundles found for package "ops"',
        "did you mean op?",
    )
    missing = failure("install", "op", "--catalog", catalog, "--dry-run", "--version", "2.x")
    assert missing.hint == "catalog cat has versions 1.0.0"
    bundle = failure("install", catalog.parent / "bundle", "--dry-run")
    assert bundle.message.endswith("/bundle is no package's name")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["install", "op", "--catalog", "{}"], "a catalog on disk needs --dry-run"),
        (["install", "op", "--dry-run", "--wait"], "give --dry-run or --wait"),
        (["install", "op", "--dry-run", "-o", "text"], "objects are printed as yaml or json"),
        (["install", "op", "--catalog", "a", "--selector", "b"], "give --catalog or --selector"),
        (["plan", "{}/op/catalog.json", "--version", "1"], "a FILE says itself what is wanted"),
        (["uninstall", "op", "--preview", "--yes"], "--preview deletes nothing"),
        (["uninstall", "op", "--cascade", "--no-wait"], "--cascade waits for custom resources"),
    ],
)
def test_contradictions_are_usage_errors(catalog: Path, arguments: list[str], said: str) -> None:
    if arguments[0] == "plan":
        (catalog / "op" / "catalog.json").write_text(
            '{"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension"}'
        )
    shown = run(*(argument.format(catalog) for argument in arguments))
    assert shown.exit_code == 2
    assert said in shown.output


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "No such file"),
        ("kind: ConfigMap", "has no ClusterExtension\nhint: olm install PACKAGE --dry-run"),
        ("- 1", "expected objects, got list"),
        ("a: [", "x.yaml: "),
    ],
)
def test_files_that_cannot_be_planned(tmp_path: Path, content: str | None, said: str) -> None:
    file = tmp_path / "x.yaml"
    if content is not None:
        file.write_text(content)
    shown = run("plan", file)
    assert (shown.exit_code, said in shown.output) == (2, True), shown.output


@pytest.mark.parametrize("command", ["status", "uninstall", "plan", "why", "history", "rollback"])
def test_names_of_extensions_are_completed(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def listed(reach: Reach, kind: str, *, seconds: float) -> list[dict[str, Any]]:
        assert (reach.kubeconfig, kind) == ("x", "ClusterExtension")
        return [{"metadata": {"name": name}} for name in ("argocd", "quay", "argo")]

    monkeypatch.setattr(quick_list, "quick_list", listed)
    from click.shell_completion import ShellComplete

    words = ShellComplete(front.cli, {}, "olm", "_OLM_COMPLETE")
    found = words.get_completions([command, "--kubeconfig", "x"], "ar")
    assert [item.value for item in found] == ["argo", "argocd"]
    monkeypatch.setattr(quick_list, "quick_list", lambda *_, **__: None)
    assert words.get_completions([command], "ar") == []
