"""`opm` as its users call it: what is printed, written and refused."""

import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml
from click.testing import CliRunner, Result

from olm_content.fbc.records import Record
from olm_runtime.errors import OLMError
from olm_runtime.registry.workstation import Registries
from opm.__main__ import cli
from opm.io.references import Reading
from tests.unit.opm.bundles import files

SVG = b'<?xml version="1.0"?>\n<!-- drawn -->\n<svg xmlns="http://www.w3.org/2000/svg"/>'


def opm(*arguments: Any) -> Result:
    return CliRunner().invoke(cli, [*map(str, arguments)])


def error_of(result: Result) -> OLMError:
    assert isinstance(result.exception, OLMError)
    return result.exception


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    for path, data in files().items():
        (tmp_path / "bundle" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "bundle" / path).write_bytes(data)
    return tmp_path / "bundle"


def test_init_embeds_description_and_icon(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Hello\nworld\n")
    (tmp_path / "icon.svg").write_bytes(SVG)
    result = opm(
        "init",
        "hello",
        "--default-channel=preview",
        f"--description={tmp_path / 'README.md'}",
        f"--icon={tmp_path / 'icon.svg'}",
        "--output",
        "yaml",
    )
    assert yaml.safe_load(result.stdout) == {
        "schema": "olm.package",
        "name": "hello",
        "defaultChannel": "preview",
        "description": "# Hello\nworld\n",
        "icon": {"base64data": base64.b64encode(SVG).decode(), "mediatype": "image/svg+xml"},
    }


def test_init_refuses_an_icon_that_is_no_image(tmp_path: Path) -> None:
    (tmp_path / "icon").write_text("hello")
    assert "no image" in error_of(opm("init", "hello", "-i", tmp_path / "icon")).message
    assert "No such file" in error_of(opm("init", "hello", "-i", tmp_path / "none")).message


def test_a_catalog_from_nothing_is_valid(tmp_path: Path, bundle: Path) -> None:
    catalog = tmp_path / "catalog"
    catalog.mkdir()
    channel = {
        "schema": "olm.channel",
        "package": "hello",
        "name": "preview",
        "entries": [{"name": "hello.v1.0.0"}],
    }
    index = (
        opm("init", "hello", "--default-channel=preview", "-o", "yaml").stdout
        + opm(
            *("render", bundle, "--output=yaml"),
            *("--alpha-image-ref-template", "example.com/{{ .Package }}:v{{.Version}}"),
        ).stdout
        + "---\n"
        + yaml.safe_dump(channel)
    )
    (catalog / "index.yaml").write_text(index)
    result = opm("validate", catalog)
    assert (result.exit_code, result.output) == (0, "")
    rendered = list(yaml.safe_load_all(opm("render", catalog, "-o", "yaml").stdout))
    assert [each["schema"] for each in rendered] == ["olm.package", "olm.channel", "olm.bundle"]
    assert rendered[2]["image"] == "example.com/hello:v1.0.0"


def test_validate_reports_every_fault_with_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("schema: olm.package\nname: a\n---\nschema: olm.channel\n")
    (tmp_path / "b.yaml").write_text("a: [\n")
    (tmp_path / "c.json").write_text('{"name": "x"}')
    (tmp_path / "d.yaml").write_text("# nothing\n---\nschema: my.own\n")
    result = opm("validate", tmp_path)
    assert result.exit_code == 1
    lines = result.stderr.splitlines()
    assert any(line.startswith('a.yaml:1: package "a": default channel') for line in lines)
    assert any(line.startswith('a.yaml:4: olm.channel "": package must be set') for line in lines)
    assert any(line.startswith("b.yaml:2: did not find expected") for line in lines)
    assert any(line.startswith("c.json:1: the object has no schema") for line in lines)
    assert any(line.startswith("d.yaml:1: an empty document") for line in lines)
    assert lines[-1] == f"error: {tmp_path} has 6 faults"
    shown = json.loads(opm("validate", tmp_path, "-o", "json").stdout)
    assert shown["passed"] is False
    assert len(shown["faults"]) == 6
    assert {"b.yaml", "c.json", "d.yaml"} <= {fault["file"] for fault in shown["faults"]}
    assert shown["error"]["message"].count("\n") == 5
    assert yaml.safe_load(opm("validate", tmp_path, "-o", "yaml").stdout) == shown


@pytest.mark.parametrize("content", [{}, {"notes.md": "# notes", ".indexignore": "*.md"}])
def test_a_folder_without_any_object_is_no_catalog(content: dict[str, str], tmp_path: Path) -> None:
    for name, text in content.items():
        (tmp_path / name).write_text(text)
    message = f"there is no object of a catalog in any file\nerror: {tmp_path} has 1 fault\n"
    result = opm("validate", tmp_path)
    assert (result.exit_code, result.stderr) == (1, message)
    built = opm("build", tmp_path, "-t", "example.com/c:v1", "-o", tmp_path.parent / "layout")
    assert (built.exit_code, built.stdout) == (1, "")
    assert message in built.stderr
    assert not (tmp_path.parent / "layout").exists()


def test_a_package_has_a_name_and_one_that_is_drawn_exists(tmp_path: Path) -> None:
    assert error_of(opm("init", "")).message == "a package has to have a name"
    (tmp_path / "c.yaml").write_text(
        "{schema: olm.package, name: hello, defaultChannel: a}\n---\n"
        "{schema: olm.channel, name: a, package: hello, entries: [{name: hello.v1}]}\n"
    )
    assert opm("alpha", "render-graph", tmp_path, "-p", "hello").exit_code == 0
    absent = error_of(opm("alpha", "render-graph", tmp_path, "-p", "helo"))
    assert (absent.message, absent.hint) == ('package "helo" not found', "did you mean hello?")


def test_logins_are_wanted_where_a_file_of_them_is_named(tmp_path: Path) -> None:
    reference = "localhost:1/team/it:v1"
    result = opm("render", reference, "--authfile", tmp_path / "none")
    assert isinstance(result.exception, OLMError)
    assert f"{tmp_path}/none: there are no logins: no such file" in result.exception.message


def test_a_password_is_asked_for_on_a_terminal_only() -> None:
    program = str(Path(sys.executable).with_name("opm"))
    asked = subprocess.run(
        [program, "login", "localhost:1", "-u", "me"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,  # without it the tests' own terminal would be asked
    )
    assert (asked.returncode, asked.stdout) == (1, "")
    assert asked.stderr == (
        "error: nobody can be asked for the password: there is no terminal\n"
        "hint: --password-stdin reads it from standard input\n"
    )
    assert opm("login", "localhost:1", "--password-stdin").exit_code != 0


def test_warnings_fail_only_when_asked(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"schema": "olm.future"}')
    assert opm("validate", tmp_path).exit_code == 0
    assert opm("validate", "--strict", tmp_path).exit_code == 1


def test_validate_requires_a_directory(tmp_path: Path) -> None:
    assert "no such directory" in error_of(opm("validate", tmp_path / "none")).message
    (tmp_path / "file").touch()
    assert "is not a directory" in error_of(opm("validate", tmp_path / "file")).message


def test_dockerfile_stands_next_to_the_catalog(tmp_path: Path) -> None:
    (tmp_path / "catalog").mkdir()
    result = opm(
        *("generate", "dockerfile", tmp_path / "catalog", "-i", "example.com/opm:v1"),
        *("-l", "a=1,b=2", "--extra-labels", "c=3"),
    )
    assert result.exit_code == 0, result.exception
    text = (tmp_path / "catalog.Dockerfile").read_text()
    assert "\nFROM example.com/opm:v1\n" in text
    assert "ADD catalog /configs" in text
    assert "LABEL operators.operatorframework.io.index.configs.v1=/configs" in text
    assert text.endswith('LABEL "a"="1"\nLABEL "b"="2"\nLABEL "c"="3"\n')
    again = opm("generate", "dockerfile", tmp_path / "catalog")
    assert "exists already" in error_of(again).message
    assert (tmp_path / "catalog.Dockerfile").read_text() == text


def test_dockerfile_without_a_base_image_runs_nothing(tmp_path: Path) -> None:
    (tmp_path / "catalog").mkdir()
    opm("generate", "dockerfile", tmp_path / "catalog", "-i", "scratch", "-b", "example.com/opm")
    text = (tmp_path / "catalog.Dockerfile").read_text()
    assert "FROM example.com/opm as builder" in text
    assert "\nENTRYPOINT" not in text


@pytest.mark.parametrize(
    ("options", "builder", "base"),
    [
        (["--binary-image=x/old"], "x/old", "x/old"),
        (["--binary-image=x/old", "-b", "x/builder"], "x/builder", "x/old"),
        (["-i", "x/base"], "quay.io/operator-framework/opm:latest", "x/base"),
    ],
)
def test_a_binary_image_is_for_both_stages(
    tmp_path: Path, options: list[str], builder: str, base: str
) -> None:
    (tmp_path / "catalog").mkdir()
    assert opm("generate", "dockerfile", tmp_path / "catalog", *options).exit_code == 0
    text = (tmp_path / "catalog.Dockerfile").read_text()
    assert f"FROM {builder} as builder\n" in text
    assert f"\nFROM {base}\n" in text


def test_the_images_of_a_dockerfile_that_are_refused(tmp_path: Path) -> None:
    (tmp_path / "catalog").mkdir()
    both = opm("generate", "dockerfile", tmp_path / "catalog", "-i", "x/a", "--binary-image=x/b")
    assert "not both" in both.stderr
    nothing = opm("generate", "dockerfile", tmp_path / "catalog", "-b", "scratch")
    assert "invalid builder image" in error_of(nothing).message


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("render", "./none"), 'render reference "./none": there is no such file or folder, and'),
        (("render", "."), ""),
        (("generate", "dockerfile", "none"), "none: no such directory"),
    ],
)
def test_wrong_input_is_reported(
    arguments: tuple[str, ...], fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = opm(*arguments)
    if fault:
        assert fault in error_of(result).message
    else:
        assert (result.exit_code, result.stdout) == (0, "")


@pytest.mark.parametrize("arguments", [["render"], ["nosuch"], ["validate", "--nosuch"]])
def test_usage_errors_end_as_others_do(arguments: list[str]) -> None:
    program = Path(sys.executable).with_name("opm")
    completed = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    assert (completed.returncode, completed.stdout) == (1, "")
    assert "Usage: opm" in completed.stderr


def test_a_file_is_no_catalog(tmp_path: Path) -> None:
    (tmp_path / "index.yaml").write_text("schema: olm.package\n")
    error = error_of(opm("render", tmp_path / "index.yaml"))
    assert "neither a folder nor an SQLite database" in error.message


@pytest.mark.parametrize("template", ["{{.Digest}}", "{{ printf .Name }}", "{{"])
def test_a_template_that_cannot_be_filled_in(template: str, bundle: Path) -> None:
    error = error_of(opm("render", bundle, "--alpha-image-ref-template", template))
    assert "cannot be filled in" in error.message


def test_an_update_graph_is_a_diagram_or_a_picture(tmp_path: Path, bundle: Path) -> None:
    catalog, template = tmp_path / "catalog", tmp_path / "template.yaml"
    catalog.mkdir()
    template.write_text(f"schema: olm.semver\nstable: {{bundles: [{{image: {bundle}}}]}}\n")
    expanded = opm("alpha", "render-template", "semver", template)
    (catalog / "index.json").write_text(expanded.stdout)
    diagram = opm("alpha", "render-graph", catalog).stdout
    assert diagram.startswith("graph LR\n")
    assert 'hello-stable-v1.0-hello.v1.0.0["hello.v1.0.0"]' in diagram
    assert opm("alpha", "render-template", template, "-o", "mermaid").stdout == diagram
    picture = opm("alpha", "render-graph", catalog, "-o", "svg").stdout
    assert "hello.v1.0.0" in "".join(ET.fromstring(picture).itertext())


@pytest.mark.parametrize("place", range(5))
def test_options_of_registries_stand_anywhere(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Reading] = []

    def read(_: str, how: Reading) -> list[Record]:
        given.append(how)
        return []

    monkeypatch.setattr("opm.commands.alpha.read_reference", read)
    command = ["alpha", "list", "packages", "it"]
    command[place:place] = ["--use-http"]
    assert opm(*command, "--authfile=f").exit_code == 0
    expected = Registries(plain_http=True, auth_file=Path("f"))
    assert [how.registries for how in given] == [expected]
    refused = opm(*command, "--skip-tls-verify")
    assert "--use-http and --skip-tls-verify cannot both be given" in refused.stderr
    assert len(given) == 1
