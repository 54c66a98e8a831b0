import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from olm_cli.bundle import bundle
from olm_content.formats.kube_yaml import load_all

CSV = """
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: example.v1.0.0}
spec:
  displayName: Example
  installModes: [{type: AllNamespaces, supported: true}]
  install: {strategy: deployment, spec: {deployments: []}}
"""
CONFIG_MAP = """
apiVersion: v1
kind: ConfigMap
metadata: {name: m}
data: {script: "a\\nb\\n", switch: "y", mode: "0o17", empty: ""}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "manifests").mkdir()
    (tmp_path / "metadata").mkdir()
    (tmp_path / "manifests" / "csv.yaml").write_text(CSV)
    (tmp_path / "manifests" / "map.yaml").write_text(CONFIG_MAP)
    (tmp_path / "metadata" / "annotations.yaml").write_text(
        "annotations: {operators.operatorframework.io.bundle.package.v1: example}"
    )
    return tmp_path


def run(*arguments: Any, given: str | None = None) -> Result:
    return CliRunner().invoke(bundle, ["render", *map(str, arguments)], input=given)


def test_yaml_says_what_json_says(folder: Path) -> None:
    as_yaml = run(folder, "--install-namespace", "ns")
    as_json = run(folder, "--install-namespace", "ns", "-o", "json")
    assert as_yaml.exit_code == as_json.exit_code == 0
    objects = json.loads(as_json.output)
    assert list(load_all(as_yaml.output.encode())) == objects
    assert list(yaml.safe_load_all(as_yaml.output)) == objects
    assert "script: |\n" in as_yaml.output


def test_a_refusal_is_reported_without_a_traceback(folder: Path) -> None:
    result = run(folder, "--install-namespace", "ns", "--watch-namespace", "other")
    assert result.exit_code == 1
    assert result.stderr == (
        "error: invalid ClusterExtension configuration: invalid configuration: "
        'unknown field "watchNamespace"\n'
        "hint: example.v1.0.0 always watches all namespaces: leave --watch-namespace out\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["/nowhere", "--install-namespace", "ns"], "error: /nowhere: no such folder"),
        ([".", "--install-namespace", "ns", "--config", "/nowhere"], "error: /nowhere: No such"),
    ],
)
def test_what_is_not_there_is_named(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 1
    assert result.stderr.startswith(message)


def test_a_folder_and_a_namespace_are_needed() -> None:
    assert run().exit_code == 2


def test_a_batch_answers_in_order_and_survives_bad_lines(folder: Path) -> None:
    requests = [
        {"id": 1, "dir": str(folder), "installNamespace": "a"},
        {"id": "two", "dir": 5},
        {"id": 3, "dir": str(folder), "installNamespace": "b", "certificateProvider": "none"},
        {"id": 4, "dir": str(folder), "installNamespace": "b", "config": {"x": 1}},
        {"id": 5, "dir": str(folder), "installNamespace": "b"},
    ]
    lines = "\n".join(["nonsense", *map(json.dumps, requests), "[]"])
    answers = [json.loads(line) for line in run("--batch", "-", given=lines).output.splitlines()]
    assert [answer["id"] for answer in answers] == [None, 1, "two", 3, 4, 5, None]
    assert [next(iter(answer.keys() - {"id"})) for answer in answers] == [
        "error", "objects", "error", "error", "error", "objects", "error",
    ]  # fmt: skip
    assert answers[3]["error"] == 'unknown certificate provider "none"'
    assert answers[1]["objects"][0]["metadata"]["namespace"] == "a"
    assert answers[5]["objects"][0]["metadata"]["namespace"] == "b"


def test_a_batch_writes_large_numbers_as_go_does(folder: Path) -> None:
    numbers = "[18446744073709551616, 1e20, 9223372036854775807]"
    manifest = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: big}}\nx: {numbers}\n"
    (folder / "manifests" / "numbers.yaml").write_text(manifest)
    request = {"id": 1, "dir": str(folder), "installNamespace": "a"}
    answer = run("--batch", "-", given=json.dumps(request)).output
    assert '"x":[18446744073709552000,100000000000000000000,9223372036854775807]' in answer


def test_watch_namespace_and_configuration_must_not_differ(folder: Path) -> None:
    request = {
        "id": 1,
        "dir": str(folder),
        "installNamespace": "a",
        "watchNamespace": "b",
        "config": {"watchNamespace": "c"},
    }
    answer = json.loads(run("--batch", "-", given=json.dumps(request)).output)
    assert answer["error"] == 'the watch namespace is "b" and, in the configuration, "c"'
