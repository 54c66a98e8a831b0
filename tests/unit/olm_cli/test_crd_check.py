"""`olm crd check`: files, bundles, batches; what it prints and how it ends."""

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from olm_cli.crd import crd
from olm_client.crds.comparing import compare
from olm_runtime.errors import OLMError, TerminalError
from tests.unit.olm_content.crds.definitions import NAME, definition, version, with_field

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
        "onlyold.example.com: not in NEW; an update removes it, unless objects are stored of it",
        "1 compared, 1 unsafe",
    ]


def test_what_a_cluster_does_not_have_yet_is_safe() -> None:
    found = compare({}, {NAME: TEXT}, all_new=True)
    assert (found.findings, found.compared, found.added) == ((), [], [NAME])
    for new in ({}, {NAME: TEXT}):
        with pytest.raises(TerminalError):
            compare({}, new, all_new=not new)


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
        "servedVersions": [],
        "storedObjects": [],
    }


def test_archives_of_bundles(files: dict[str, str], tmp_path: Path) -> None:
    for name in ("old", "new"):
        with tarfile.open(tmp_path / f"{name}.tar.gz", "w:gz") as archive:
            archive.add(files[name], arcname=".")
    archives = [str(tmp_path / f"{name}.tar.gz") for name in ("old", "new")]
    result = run(*archives)
    assert (result.exit_code, result.output) == (1, run(files["old"], files["new"]).output)


def test_folders_without_manifests_are_folders_of_manifests(files: dict[str, str]) -> None:
    result = run(f"{files['old']}/manifests", f"{files['new']}/manifests")
    assert result.output == run(files["old"], files["new"]).output


def test_versions_that_are_served_no_longer_are_reported(tmp_path: Path) -> None:
    schema = {"type": "object"}
    old = definition(version("v1", schema), version("v1beta1", schema))
    new = definition(version("v1", schema), version("v1beta1", schema, served=False))
    for name, crd_object in (("a", old), ("b", new)):
        (tmp_path / name).write_text(yaml.safe_dump(crd_object))
    result = run(str(tmp_path / "a"), str(tmp_path / "b"))
    assert (result.exit_code, result.output.splitlines()) == (
        0,
        [f"{NAME}: version v1beta1 is no longer served", "1 compared, 0 unsafe"],
    )
    result = run(str(tmp_path / "b"), str(tmp_path / "a"), "-o", "json")
    assert json.loads(result.output)["servedVersions"] == [
        {"crd": NAME, "version": "v1beta1", "served": True}
    ]


FAULTS = {
    "no such folder or file": None,
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
def test_faults_are_reported_with_exit_code_2(
    files: dict[str, str], tmp_path: Path, message: str, content: str | None
) -> None:
    file = tmp_path / "faulty.yaml"
    if content is not None:
        file.write_text(content)
    result = run(str(file), files["text"])
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert message in result.stderr


@pytest.mark.parametrize(
    "arguments", [(), ("a",), ("a", "b", "c"), ("--against-cluster",)], ids=" ".join
)
def test_usage(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert "give OLD and NEW" in result.stderr


def test_a_batch_answers_every_line_and_stops_at_none() -> None:
    requests: list[Any] = [
        {"id": 1, "old": TEXT, "new": INTEGER},
        {"id": 2, "old": TEXT},
        {"id": 3, "old": TEXT, "new": {**TEXT, "spec": []}},
        {"id": 4, "old": TEXT, "new": TEXT},
    ]
    lines = [json.dumps(request) for request in requests]
    result = run("--batch", "-", stdin="\n".join([*lines[:2], "no json", *lines[2:]]) + "\n")
    assert isinstance(result.exception, OLMError)
    assert result.exception.message.startswith("2 lines are no requests")
    first, second, third, fourth, last = map(json.loads, result.output.splitlines())
    assert first == {"id": 1, "safe": False, "findings": [LINE]}
    assert second == {"id": 2, "error": "new: expected a CustomResourceDefinition"}
    assert third["id"] is None
    assert fourth["error"].startswith(f"new: {NAME}: spec")
    assert last == {"id": 4, "safe": True, "findings": []}


def verdicts(*pairs: tuple[str, str]) -> list[bool]:
    """Of definitions that differ in the text of one field's schema."""
    field = json.dumps(TEXT).replace('{"type": "string"}', "%s")
    lines = (f'{{"old": {field % old}, "new": {field % new}}}\n' for old, new in pairs)
    result = run("--batch", "-", stdin="".join(lines))
    return [json.loads(line)["safe"] for line in result.output.splitlines()]


TEXTS = {
    "blanks, as Python writes them": ('{"default": {"a": 1}}', '{"default": {"a": 1}}', False),
    "none, as API servers do": ('{"default": {"a":1}}', '{"default": {"a": 1}}', True),
    "keys in another order": ('{"default": {"b":1,"a":2}}', '{"default": {"a":2,"b":1}}', False),
    "a list of one": ('{"default": [1]}', '{"default": [1]}', True),
    "a list of two": ('{"default": [1, 2]}', '{"default": [1, 2]}', False),
    "a number": ('{"default": 1.0}', '{"default": 1}', False),
    "an escape": (r'{"default": "\u00e9"}', '{"default": "é"}', False),
    "the same word as a name": (
        '{"properties": {"default": {"type": "string"}}}',
        '{"properties": {"default": {"type": "string"}}}',
        True,
    ),
    "the same word in a text": (
        r'{"description": "say \"default\": {\"a\": 1}"}',
        r'{"description": "say \"default\": {\"a\": 1}"}',
        True,
    ),
    "values of an enum": ('{"enum": [1.0, 2]}', '{"enum": [1, 2]}', False),
    "an example": ('{"example": {"a": 1}}', '{"example": {"a": 1}}', False),
    "an example without blanks": ('{"example": {"a":1}}', '{"example": {"a":1}}', True),
    "the list itself": ('{"enum": [ "a" , "b" ]}', '{"enum": ["b","a"]}', True),
    "an empty list": ('{"enum": [ ]}', '{"enum": []}', True),
}


@pytest.mark.parametrize(("old", "new", "safe"), TEXTS.values(), ids=TEXTS)
def test_a_batch_compares_defaults_and_enums_by_their_text(old: str, new: str, safe: bool) -> None:
    assert verdicts((old, new)) == [safe]


def test_a_change_of_text_is_said_to_be_no_more_than_that() -> None:
    crd_object = with_field({"type": "object", "default": {"a": 1}})
    line = json.dumps({"id": 1, "old": crd_object, "new": crd_object})
    finding = json.loads(run("--batch", "-", stdin=line).output)["findings"][0]
    assert finding.endswith(
        'field "^.spec.field": default value changed from {"a": 1} to {"a":1}, in its text alone'
    )
