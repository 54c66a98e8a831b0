"""`olm classic` over files: what it prints, for people and for programs."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from olm_cli.classic.group import classic
from olm_runtime.errors import OLMError
from tests.unit.olm_cli.classic.test_resolution_page import FILE, PAGE

OPERATORS = "operators.coreos.com/v1alpha1"
CATALOG = dict(FILE.findall(PAGE.read_text()))["catalog/catalog.yaml"]
"""kafka 1.0.0 and, with a requirement that keeper meets, 1.1.0."""


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog/catalog.yaml").write_text(CATALOG)


def objects(*given: dict[str, Any], file: str = "objects.yaml") -> str:
    Path(file).write_text(yaml.safe_dump_all(given))
    return file


def subscription(**spec: Any) -> dict[str, Any]:
    status = spec.pop("status", {})
    full = {"name": "kafka", "source": "cat", "sourceNamespace": "olm", **spec}
    metadata = {"name": "sub", "namespace": "ns"}
    kind = {"apiVersion": OPERATORS, "kind": "Subscription"}
    return {**kind, "metadata": metadata, "spec": full, "status": status}


def csv(name: str, version: str) -> dict[str, Any]:
    return {
        "apiVersion": OPERATORS, "kind": "ClusterServiceVersion",
        "metadata": {"name": name, "namespace": "ns"}, "spec": {"version": version},
    }  # fmt: skip


def run(*words: str, catalog: str = "cat=catalog") -> Result:
    return CliRunner().invoke(classic, [*words, *(("--catalog", catalog) if catalog else ())])


def installed() -> str:
    status = {"installedCSV": "kafka.v1.0.0", "currentCSV": "kafka.v1.0.0"}
    return objects(subscription(status=status), csv("kafka.v1.0.0", "1.0.0"))


def test_why_shows_what_an_update_comes_to() -> None:
    assert run("why", "--files", installed()).output.splitlines() == [
        "sub: goes on from kafka.v1.0.0 to kafka.v1.1.0",
        "keeper-fast-cat-olm: to be created, for keeper.v0.3.0 is needed by others",
    ]


def test_why_shows_what_holds_a_newer_bundle_back() -> None:
    Path("catalog/catalog.yaml").write_text(CATALOG.replace("- type: olm.gvk\n", "- type: x\n"))
    result = run("why", "--files", installed())
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "sub: has kafka.v1.0.0",
        "  not kafka.v1.1.0, because:",
        "    kafka.v1.1.0 needs API Keeper (example.com/v1), which no visible catalog has",
    ]
    shown = json.loads(run("why", "--files", "objects.yaml", "-o", "json").output)
    assert shown["heldBack"]["sub"]["bundle"] == "kafka.v1.1.0"


def test_why_as_data_when_the_namespace_does_not_resolve() -> None:
    file = objects(subscription(channel="gone"))
    result = run("why", "--files", file, "-o", "json")
    assert result.exit_code == 1
    error = json.loads(result.output)["error"]
    assert error["reason"] == "ConstraintsNotSatisfiable"
    assert error["change"]["text"] == "set spec.channel to stable in subscription sub"


def test_resolve_as_data() -> None:
    result = run("resolve", "--files", objects(subscription()), "-o", "json")
    answer = json.loads(result.output)
    assert answer["namespace"] == "ns"
    assert [(each["name"], each["new"]) for each in answer["bundles"]] == [
        ("keeper.v0.3.0", True),
        ("kafka.v1.1.0", True),
    ]
    assert answer["subscriptions"]["updated"] == [{"name": "sub", "currentCSV": "kafka.v1.1.0"}]


def test_a_plan_with_nothing_to_do() -> None:
    file = objects(
        subscription(name="keeper", status={"installedCSV": "k", "currentCSV": "k"}), csv("k", "1")
    )
    assert run("plan", "--files", file).output == "ns: nothing to do\n"


def test_a_plan_that_waits() -> None:
    file = objects(subscription(installPlanApproval="Manual"))
    assert "Manual, which waits to be approved" in run("plan", "--files", file).output


def test_a_catalog_source_in_the_files_without_content() -> None:
    source = {
        "apiVersion": OPERATORS, "kind": "CatalogSource",
        "metadata": {"name": "other", "namespace": "ns"},
        "spec": {"sourceType": "grpc", "address": "example.com:50051"},
    }  # fmt: skip
    result = run("resolve", "--files", objects(subscription(), source))
    assert result.exit_code == 1
    assert "ErrorPreventedResolution: error using catalogsource ns/other: it has no image" in (
        result.output
    )
    given = run("resolve", "--files", "objects.yaml", "--catalog", "ns/other=catalog")
    assert "ErrorPreventedResolution" not in given.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "give --namespace, or --files"),
        (("--files", "objects.yaml"), "the Subscriptions in --files name a, b"),
        (("--files", "one.yaml", "--catalog", "x"), "expected [NAMESPACE/]NAME=FOLDER|IMAGE"),
        (("--files", "one.yaml", "--catalog", "/x=catalog"), "expected [NAMESPACE/]NAME"),
        (("--files", "no.yaml"), "does not exist"),
        (("-n", "A b", "--files", "one.yaml"), "is no name"),
        (("--files", "one.yaml", "--resolution-dialect", "x"), "not one of"),
    ],
)
def test_wrong_words(words: tuple[str, ...], said: str) -> None:
    two = [subscription(), subscription()]
    for name, each in zip("ab", two, strict=True):
        each["metadata"]["namespace"] = name
    objects(*two)
    objects(subscription(), file="one.yaml")
    result = run("why", *words, catalog="")
    assert result.exit_code == 2
    assert said in result.output


def test_a_folder_that_is_no_catalog() -> None:
    Path("broken").mkdir()
    Path("broken/catalog.yaml").write_text("schema: olm.package\n  bad: [")
    result = run("why", "--files", objects(subscription()), catalog="cat=broken")
    assert isinstance(result.exception, OLMError)
