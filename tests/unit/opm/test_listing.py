"""The tables of `opm alpha list`."""

from pathlib import Path

import orjson
from click.testing import CliRunner

from olm_runtime.errors import TerminalError
from opm.__main__ import cli
from tests.unit.olm_catalogs.test_validate import catalog


def alpha_list(folder: Path, *arguments: str) -> list[str]:
    blobs = catalog()
    blobs[4]["properties"].append({"type": "olm.csv.metadata", "value": {"displayName": "Foo!"}})
    (folder / "index.json").write_bytes(b"\n".join(map(orjson.dumps, blobs)))
    what, *rest = arguments
    result = CliRunner().invoke(cli, ["alpha", "list", what, str(folder), *rest])
    assert result.exit_code == 0, result.exception
    return result.stdout.splitlines()


def test_packages(tmp_path: Path) -> None:
    assert alpha_list(tmp_path, "packages") == [
        "NAME  DISPLAY NAME  DEFAULT CHANNEL",
        "foo   Foo!          stable",
    ]


def test_channels(tmp_path: Path) -> None:
    assert alpha_list(tmp_path, "channels", "foo") == [
        "PACKAGE  CHANNEL  HEAD",
        "foo      stable   foo.v3",
    ]


def test_bundles(tmp_path: Path) -> None:
    assert [line.split() for line in alpha_list(tmp_path, "bundles")[1:]] == [
        ["foo", "stable", "foo.v1", "example.com/foo:v1.0.0"],
        ["foo", "stable", "foo.v2", "foo.v1", "example.com/foo:v2.0.0"],
        ["foo", "stable", "foo.v3", "foo.v2", "<3.0.0", "example.com/foo:v3.0.0"],
    ]


def test_for_programs(tmp_path: Path) -> None:
    rows = orjson.loads("\n".join(alpha_list(tmp_path, "bundles", "-o", "json")))
    assert rows[2] == {
        "package": "foo",
        "channel": "stable",
        "bundle": "foo.v3",
        "replaces": "foo.v2",
        "skips": [],
        "skipRange": "<3.0.0",
        "image": "example.com/foo:v3.0.0",
    }
    assert alpha_list(tmp_path, "channels", "-o", "yaml") == [
        "---",
        "- channel: stable",
        "  head: foo.v3",
        "  package: foo",
    ]


def test_an_unknown_package(tmp_path: Path) -> None:
    alpha_list(tmp_path, "packages")
    for given, hint in (("bar", "there is foo"), ("fooo", "did you mean foo?")):
        result = CliRunner().invoke(cli, ["alpha", "list", "channels", str(tmp_path), given])
        assert isinstance(result.exception, TerminalError)
        assert result.exception.message == f'package "{given}" not found'
        assert result.exception.hint == hint


def test_a_catalog_with_faults_is_not_listed(tmp_path: Path) -> None:
    (tmp_path / "index.json").write_bytes(b"\n".join(map(orjson.dumps, catalog()[1:])))
    result = CliRunner().invoke(cli, ["alpha", "list", "packages", str(tmp_path)])
    assert 'index.json:1: olm.channel "stable": unknown package "foo"' in str(result.exception)
