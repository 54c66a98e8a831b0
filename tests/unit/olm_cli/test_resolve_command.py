"""`olm resolve`, over a catalog small enough to read."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from olm_cli.resolve import resolve_command
from olm_runtime.errors import OLMError

CATALOG = """
---
schema: olm.package
name: my-op
defaultChannel: stable
---
schema: olm.channel
package: my-op
name: stable
entries:
- name: my-op.v1
- {name: my-op.v2, replaces: my-op.v1}
- {name: my-op.v3, replaces: my-op.v2}
---
{schema: olm.bundle, package: my-op, name: my-op.v1, image: r/p:1, properties: [
  {type: olm.package, value: {packageName: my-op, version: 1.0.0}}]}
---
{schema: olm.bundle, package: my-op, name: my-op.v2, image: r/p:2, properties: [
  {type: olm.package, value: {packageName: my-op, version: 2.0.0}}]}
---
{schema: olm.bundle, package: my-op, name: my-op.v3, image: r/p:3, properties: [
  {type: olm.package, value: {packageName: my-op, version: 3.0.0}}]}
---
schema: olm.deprecations
package: my-op
entries:
- reference: {schema: olm.package}
  message: my-op goes away
"""


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    folder = tmp_path / "catalog"
    (folder / "p").mkdir(parents=True)
    (folder / "p" / "catalog.yaml").write_text(CATALOG)
    (folder / "broken.yaml").write_text("schema: olm.package\nname: other\n  bad: [")
    (folder / "README.md").write_text("about my-op: no catalog {")
    (folder / ".indexignore").write_text("*.md\n")
    return folder


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(resolve_command, arguments, input=stdin)


def test_the_choice(catalog: Path) -> None:
    result = run("--catalog", f"a={catalog}", "--package", "my-op")
    assert result.exit_code == 0
    assert result.output == (
        "my-op.v3\n  version  3.0.0\n  image    r/p:3\n  catalog  a\ndeprecated: my-op goes away\n"
    )


def test_the_choice_for_programs(catalog: Path) -> None:
    result = run("--catalog", f"a={catalog}", "--package", "my-op", "--version", "<3", "-o", "json")
    assert json.loads(result.output) == {
        "bundle": "my-op.v2",
        "version": "2.0.0",
        "image": "r/p:2",
        "catalog": "a",
    }


def test_why(catalog: Path) -> None:
    given = ("--catalog", f"a={catalog}", "--package", "my-op", "--installed", "my-op.v1=1.0.0")
    result = run(*given, "--explain")
    assert result.output.splitlines()[5:] == [
        "considered 3 bundles: 1 no successor of what is installed, 1 of lower version, 1 chosen",
        "in catalog a",
        "  my-op.v2  chosen",
        "  my-op.v3  it is no successor of my-op.v1: in channel stable it replaces my-op.v2",
        "  my-op.v1  my-op.v2 has the higher version 2.0.0",
    ]


def test_why_for_programs(catalog: Path) -> None:
    given = ("--catalog", f"a={catalog}", "--package", "my-op", "--version", "9", "-o", "yaml")
    result = run(*given, "--explain")
    assert result.exit_code == 1
    assert 'error: no bundles found for package "my-op" matching version "9"' in result.output
    assert "reason: OutOfRange" in result.output


def test_no_bundle_is_an_error_that_says_how_to_learn_more(catalog: Path) -> None:
    result = run("--catalog", f"a={catalog}", "--package", "my-op", "--version", "9")
    error = result.exception
    assert isinstance(error, OLMError)
    assert error.message == 'no bundles found for package "my-op" matching version "9"'
    assert error.hint == (
        'set spec.source.catalog.version to "3.0.0" to get my-op.v3 from catalog a; '
        "considered 3 bundles: 3 out of range; --explain tells of each"
    )


def test_the_change_that_helps_for_programs(catalog: Path) -> None:
    given = ("--catalog", f"a={catalog}", "--package", "my-op", "--version", "9", "-o", "json")
    advice = json.loads(run(*given, "--explain").stdout)["explanation"]["advice"]
    assert advice["patch"] == {"spec": {"source": {"catalog": {"version": "3.0.0"}}}}
    assert advice["gives"] == {"bundle": "my-op.v3", "version": "3.0.0", "catalog": "a"}


def test_priority_decides_between_catalogs(catalog: Path) -> None:
    given = (
        "--catalog",
        f"a={catalog}",
        "--catalog",
        f"b={catalog},priority=5",
        "--package",
        "my-op",
    )
    assert "  catalog  b\n" in run(*given).output
    assert "same priority [a b]" in str(run(*given[:3], f"b={catalog}", *given[4:]).exception)


def test_a_package_that_is_nearly_right_is_suggested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "index.yaml").write_text("{schema: olm.package, name: my-op}")
    error = run("--catalog", f"a={tmp_path / 'c'}", "--package", "my-opp").exception
    assert isinstance(error, OLMError)
    assert error.hint.startswith("did you mean my-op?")


def test_a_catalog_that_cannot_be_read_fails_who_needs_it(catalog: Path) -> None:
    result = run("--catalog", f"a={catalog}", "--package", "other")
    assert 'error getting package "other" from catalog "a": broken.yaml: ' in str(result.exception)


USAGE = {
    "a package is needed": ("--catalog", "a=x"),
    "a catalog is named before its folder": ("--catalog", "=x", "--package", "my-op"),
    "a priority is a number": ("--catalog", "a=x,priority=high", "--package", "my-op"),
    "what is installed has a version": (
        "--catalog",
        "a=x",
        "--package",
        "my-op",
        "--installed",
        "my-op",
    ),
}


@pytest.mark.parametrize("arguments", USAGE.values(), ids=USAGE.keys())
def test_usage(arguments: tuple[str, ...]) -> None:
    assert run(*arguments).exit_code == 2


def test_a_folder_needs_no_name(catalog: Path) -> None:
    result = run("--catalog", str(catalog), "--package", "my-op")
    assert f"  catalog  {catalog.name}\n" in result.output
    ranked = run(
        "--catalog", f"{catalog},priority=7", "--catalog", f"b={catalog}", "--package", "my-op"
    )
    assert f"  catalog  {catalog.name}\n" in ranked.output


def test_without_a_catalog_the_cluster_is_asked() -> None:
    for catalogs in ((), ("--catalog", "operatorhubio")):
        result = run(*catalogs, "--package", "my-op", "--kubeconfig", "/nonexistent")
        assert isinstance(result.exception, OLMError)
        assert "give --catalog DIR|IMAGE to look in a catalog without" in result.exception.hint


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    result = run("--catalog", f"a={tmp_path / 'none'}", "--package", "my-op")
    assert isinstance(result.exception, OLMError)
    assert result.exception.message.endswith("none: no such folder")


def test_a_batch(catalog: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(catalog.parent)
    here = [{"name": "a", "dir": "catalog"}]
    installed = {"name": "my-op.v1", "version": "1.0.0"}
    lines = [
        {"id": 1, "catalogs": here, "package": "my-op"},
        {"id": 2, "catalogs": here, "package": "my-op", "installed": installed},
        {"id": 3, "catalogs": here, "package": "my-op", "installed": installed, "channels": ["x"]},
        {"id": 4, "catalogs": here, "package": "my-op", "version": "latest"},
        {"id": 5, "catalogs": here},
        {"id": 6, "catalogs": [{"name": "a", "dir": "no"}], "package": "my-op"},
        {"id": 7, "catalogs": here, "package": "my-op", "policy": "Free"},
        {"id": 8, "catalogs": "catalog", "package": "my-op"},
        {"id": 9, "catalogs": [{**here[0], "priority": "high"}], "package": "my-op"},
        {"id": 10, "package": "my-op", "policy": None, "channels": None, "installed": None},
        {"id": 11, "catalogs": here, "package": "my-op", "channels": ["a", 1]},
        {"id": 12, "catalogs": here, "package": "my-op", "installed": "my-op.v1"},
    ]
    result = run("--batch", "-", stdin="".join(json.dumps(line) + "\n" for line in lines))
    answers = [json.loads(line) for line in result.output.splitlines()]
    assert [answer.pop("id") for answer in answers] == list(range(1, 13))
    assert answers[0] == {
        "bundle": "my-op.v3",
        "version": "3.0.0",
        "image": "r/p:3",
        "catalog": "a",
    }
    assert answers[1]["bundle"] == "my-op.v2"
    assert [answer["error"] for answer in answers[2:]] == [
        (
            'error upgrading from currently installed version "1.0.0": '
            'no bundles found for package "my-op" in channels [x]'
        ),
        'desired version range "latest" is invalid: improper constraint: "latest"',
        "package: expected text, got nothing",
        "no: no such folder",
        'policy: unknown "Free"; there are CatalogProvided, SelfCertified',
        "catalogs: expected a list of objects, got 'catalog'",
        "priority: expected an integer, got 'high'",
        'no bundles found for package "my-op"',
        "channels: expected a list of texts, got ['a', 1]",
        "installed: expected an object, got 'my-op.v1'",
    ]
