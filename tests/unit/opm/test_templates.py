"""Templates: what they expand to, and what they refuse."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from olm_content.fbc.records import Record
from opm.__main__ import cli
from opm.bundle import read_bundle, to_record
from opm.templates import expand_basic, expand_semver, parse_template, to_basic
from opm.templates.template import TemplateError
from tests.unit.opm.bundles import CSV, files


def bundle(version: str) -> Record:
    csv = {
        **CSV,
        "metadata": {"name": f"hello.v{version}"},
        "spec": {
            **CSV["spec"],
            "version": version,
            "description": f"about {version}",
            "icon": [{"base64data": "aGk=", "mediatype": "image/png"}],
        },
    }
    return to_record(
        read_bundle(files({"manifests/csv.yaml": csv})), f"example.com/hello:{version}"
    )


def render(image: str) -> list[Record]:
    return [bundle(image.rpartition(":")[2])]


def semver(**fields: Any) -> list[Record]:
    lists = {
        key: {"bundles": [{"image": f"example.com/hello:{v}"} for v in value]}
        for key, value in fields.items()
        if isinstance(value, list)
    }
    rest = {key: value for key, value in fields.items() if not isinstance(value, list)}
    return expand_semver({"schema": "olm.semver", **rest, **lists}, render)


def channels(records: list[Record]) -> dict[str, list[dict[str, Any]]]:
    return {r.name: r.value["entries"] for r in records if r.schema == "olm.channel"}


def test_minor_channels_by_default() -> None:
    records = semver(
        candidate=["1.0.1", "1.0.0", "1.1.0", "2.0.0"], stable=["1.0.0", "1.1.0", "1.1.2"]
    )
    assert channels(records) == {
        "candidate-v1.0": [
            {"name": "hello.v1.0.0"},
            {"name": "hello.v1.0.1", "skips": ["hello.v1.0.0"]},
        ],
        "candidate-v1.1": [
            {"name": "hello.v1.1.0", "replaces": "hello.v1.0.1", "skips": ["hello.v1.0.0"]}
        ],
        "candidate-v2.0": [{"name": "hello.v2.0.0"}],
        "stable-v1.0": [{"name": "hello.v1.0.0"}],
        "stable-v1.1": [
            {"name": "hello.v1.1.0"},
            {"name": "hello.v1.1.2", "replaces": "hello.v1.0.0", "skips": ["hello.v1.1.0"]},
        ],
    }
    package = records[0].value
    assert package["defaultChannel"] == "stable-v1.1"
    assert package["description"] == "about 1.1.2"
    assert package["icon"] == {"base64data": "aGk=", "mediatype": "image/png"}
    assert sum(r.schema == "olm.bundle" for r in records) == 5


def test_major_channels() -> None:
    records = semver(generateMajorChannels=True, fast=["1.0.0", "1.2.0", "2.0.0"])
    assert channels(records) == {
        "fast-v1": [
            {"name": "hello.v1.0.0"},
            {"name": "hello.v1.2.0", "replaces": "hello.v1.0.0"},
        ],
        "fast-v2": [{"name": "hello.v2.0.0"}],
    }
    assert records[0].value["defaultChannel"] == "fast-v2"


@pytest.mark.parametrize(("preferred", "default"), [("major", "fast-v1"), ("minor", "fast-v1.0")])
def test_the_preferred_kind_of_default_channel(preferred: str, default: str) -> None:
    records = semver(
        generateMajorChannels=True,
        generateMinorChannels=True,
        defaultChannelTypePreference=preferred,
        fast=["1.0.0", "1.0.1"],
    )
    assert records[0].value["defaultChannel"] == default


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({}, "no bundles specified"),
        ({"stable": ["1.0.0", "1.0.0"]}, "duplicate bundle name"),
        ({"stable": ["1.0.0+a", "1.0.0+b"]}, "differ only by build metadata"),
        ({"stable": ["1.0.0"], "defaultChannelTypePreference": "major"}, "mismatch"),
        ({"stable": ["1.0.0"], "defaultChannelTypePreference": "x"}, "unknown default"),
        ({"stable": ["1.0.0"], "generateMajorChannels": "yes"}, "expected a boolean"),
        ({"stable": ["1.0.0"], "stabel": 1}, 'unknown field "stabel"'),
        ({"stable": ["1.0"]}, "has an invalid version"),
    ],
)
def test_semver_templates_that_cannot_be_expanded(fields: dict[str, Any], fault: str) -> None:
    with pytest.raises(TemplateError, match=fault):
        semver(**fields)


def test_names_of_fields_match_whatever_their_case() -> None:
    text = """
Schema: olm.semver
GenerateMajorChannels: true
GenerateMinorChannels: false
Stable:
  Bundles:
  - Image: example.com/hello:1.0.0
"""
    kind, document = parse_template(text.encode())
    assert kind == "semver"
    assert channels(expand_semver(document, render)) == {"stable-v1": [{"name": "hello.v1.0.0"}]}
    kind, document = parse_template(b"SCHEMA: olm.template.basic\nEntries: [{schema: x.y}]")
    assert [each.schema for each in expand_basic(document, render)] == ["x.y"]


@pytest.mark.parametrize(
    ("stable", "fault"),
    [
        ("x", "stable: expected fields, got 'x'"),
        ({"bundle": []}, 'unknown field "bundle" in stable'),
        ({"bundles": {}}, "no bundles specified"),
        ({"bundles": "x"}, "stable: expected a list of bundles, got 'x'"),
        ({"bundles": [{"name": "x"}]}, 'unknown field "name" in the bundles of stable'),
        ({"bundles": [{}]}, "stable: each bundle needs an image"),
    ],
)
def test_semver_templates_with_other_fields(stable: Any, fault: str) -> None:
    with pytest.raises(TemplateError, match=fault):
        expand_semver({"schema": "olm.semver", "stable": stable}, render)


def test_a_basic_template_there_and_back() -> None:
    channel = {
        "schema": "olm.channel",
        "package": "hello",
        "name": "stable",
        "entries": [{"name": "hello.v1.0.0"}],
    }
    template = {
        "schema": "olm.template.basic",
        "entries": [channel, {"schema": "olm.bundle", "image": "example.com/hello:1.0.0"}],
    }
    expanded = list(expand_basic(template, render))
    assert [each.value for each in expanded] == [channel, bundle("1.0.0").value]
    assert to_basic(expanded) == template


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ({"schema": "olm.bundle", "image": "i", "package": "p"}, "unexpected fields present"),
        ({"name": "x"}, "the object has no schema"),
        ("text", "entries"),
    ],
)
def test_basic_templates_that_cannot_be_expanded(entry: Any, fault: str) -> None:
    with pytest.raises(TemplateError, match=fault):
        list(expand_basic({"entries": [entry]}, render))


def test_the_schema_gives_the_kind() -> None:
    data = yaml.safe_dump({"schema": "olm.semver"}).encode()
    assert parse_template(data)[0] == "semver"
    assert parse_template(data, "semver")[0] == "semver"
    for wrong, kind in ((data, "basic"), (b"schema: x", ""), (b"[]", ""), (b"a: [", "")):
        with pytest.raises(TemplateError):
            parse_template(wrong, kind)


FILE = """
schema: olm.package
name: hello
defaultChannel: stable
unknown: stays
---
schema: olm.bundle
name: hello.v1
package: hello
image: example.com/hello:1
properties: []
"""


@pytest.mark.parametrize("how", ["file", "-", "nothing"])
def test_a_file_or_standard_input_becomes_a_basic_template(tmp_path: Path, how: str) -> None:
    (tmp_path / "catalog.yaml").write_text(FILE)
    arguments = {"file": [str(tmp_path / "catalog.yaml")], "-": ["-"], "nothing": []}[how]
    shown = CliRunner().invoke(
        cli, ["alpha", "convert-template", "basic", *arguments, "-o", "yaml"], input=FILE
    )
    assert shown.exit_code == 0, shown.output
    assert yaml.safe_load(shown.stdout) == {
        "schema": "olm.template.basic",
        "entries": [
            {
                "schema": "olm.package",
                "name": "hello",
                "defaultChannel": "stable",
                "unknown": "stays",
            },
            {"schema": "olm.bundle", "image": "example.com/hello:1"},
        ],
    }
