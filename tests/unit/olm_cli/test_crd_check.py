"""`olm crd check`: files, folders, batches; what it prints and how it ends."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from olm_cli.crd import crd
from tests.unit.operator_controller.preflight.definitions import NAME, with_field

TEXT, INTEGER = with_field({"type": "string"}), with_field({"type": "integer"})
PROBLEM = 'type changed from "string" to "integer"'
LINE = (
    f'validating upgrade for CRD "{NAME}" failed: CustomResourceDefinition {NAME} failed upgrade '
    f'safety validation. "ChangeValidator" validation failed: version "v1", '
    f'field "^.spec.field": {PROBLEM}'
)


def run(*arguments: str, stdin: str = "") -> Result:
    return CliRunner().invoke(crd, ["check", *arguments], input=stdin)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Paths of a file with a text field, one with an integer field, and folders of both."""
    (tmp_path / "text.yaml").write_text(yaml.safe_dump(TEXT))
    (tmp_path / "integer.json").write_text(json.dumps({"kind": "List", "items": [INTEGER]}))
    for name, obj in (("old", TEXT), ("new", INTEGER)):
        manifests = tmp_path / name / "manifests"
        manifests.mkdir(parents=True)
        other = {**obj, "metadata": {"name": f"only{name}.example.com"}}
        (manifests / "both.yaml").write_text(yaml.safe_dump_all([obj, other, {"kind": "Service"}]))
        (manifests / "README.md").write_text("no manifest")
    return {path.stem: str(path) for path in tmp_path.iterdir()}


def test_safe(files: dict[str, str]) -> None:
    result = run(files["text"], files["text"])
    assert (result.exit_code, result.output) == (0, "1 compared, 0 unsafe\n")


def test_unsafe_files_give_a_table(files: dict[str, str]) -> None:
    result = run(files["text"], files["integer"])
    assert result.exit_code == 1
    assert result.output.splitlines() == [
        f"{NAME}: unsafe",
        "  VERSION  FIELD         PROBLEM",
        f"  v1       ^.spec.field  {PROBLEM}",
        "",
        "1 compared, 1 unsafe",
    ]


def test_all_definitions_of_a_bundle(files: dict[str, str]) -> None:
    result = run(files["old"], files["new"])
    assert result.exit_code == 1
    assert result.output.splitlines()[-3:] == [
        "onlynew.example.com: new, nothing to compare",
        "onlyold.example.com: not in NEW; an update would remove it and all its objects",
        "1 compared, 1 unsafe",
    ]


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_for_programs(files: dict[str, str], output: str) -> None:
    result = run(files["old"], files["new"], "-o", output)
    assert yaml.safe_load(result.output) == {
        "safe": False,
        "findings": [
            {
                "crd": NAME,
                "validator": "ChangeValidator",
                "version": "v1",
                "field": "^.spec.field",
                "problem": PROBLEM,
                "message": LINE,
            }
        ],
        "compared": [NAME],
        "added": ["onlynew.example.com"],
        "removed": ["onlyold.example.com"],
    }


FAULTS = {
    "no such file or folder": None,
    "no CustomResourceDefinition in common": "kind: Service",
    "expected objects, got str": "just text",
    "is there twice": yaml.safe_dump_all([TEXT, TEXT]),
    "only apiextensions.k8s.io/v1 can be compared": yaml.safe_dump(
        {**TEXT, "apiVersion": "apiextensions.k8s.io/v1beta1"}
    ),
    "spec.versions": yaml.safe_dump({**TEXT, "spec": {"versions": "v1"}}),
    "faulty.yaml: ": "a: [",
}


@pytest.mark.parametrize(("message", "content"), FAULTS.items(), ids=FAULTS)
def test_faults_are_told_with_exit_code_2(
    files: dict[str, str], tmp_path: Path, message: str, content: str | None
) -> None:
    file = tmp_path / "faulty.yaml"
    if content is not None:
        file.write_text(content)
    result = run(str(file), files["text"])
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert message in result.stderr


def test_usage() -> None:
    assert run().exit_code == 2


def test_a_batch_answers_every_line_and_stops_at_none() -> None:
    requests: list[Any] = [
        {"id": 1, "old": TEXT, "new": INTEGER},
        {"id": 2, "old": TEXT},
        {"id": 3, "old": TEXT, "new": {**TEXT, "spec": []}},
        {"id": 4, "old": TEXT, "new": TEXT},
    ]
    lines = [json.dumps(request) for request in requests]
    result = run("--batch", "-", stdin="\n".join([*lines[:2], "no json", *lines[2:]]) + "\n")
    assert result.exit_code == 0
    first, second, third, fourth, last = map(json.loads, result.output.splitlines())
    assert first == {"id": 1, "safe": False, "findings": [LINE]}
    assert second == {"id": 2, "error": "new: expected a CustomResourceDefinition"}
    assert third["id"] is None
    assert fourth["error"].startswith(f"new: {NAME}: spec")
    assert last == {"id": 4, "safe": True, "findings": []}
