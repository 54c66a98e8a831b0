"""What `--catalog` names, in every command."""

from pathlib import Path

import click
import pytest

from olm_cli import __main__ as front
from olm_client.catalogs.choice import CatalogChoice, Form, chosen
from olm_client.usage import InvalidValueError
from olm_runtime.errors import TerminalError

DIGEST = "sha256:" + "ab" * 32


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("mine", "with=sign", "deep/er"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "file.yaml").touch()
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("text", "form", "where", "name", "priority"),
    [
        ("operatorhubio", Form.CLUSTER, "operatorhubio", "operatorhubio", 0),
        ("my.catalog", Form.CLUSTER, "my.catalog", "my.catalog", 0),
        ("hub@sha256:0a1b", Form.CACHED, "hub@sha256:0a1b", "hub@sha256:0a1b", 0),
        ("mine", Form.FOLDER, "mine", "mine", 0),
        ("./mine", Form.FOLDER, "./mine", "mine", 0),
        ("deep/er", Form.FOLDER, "deep/er", "er", 0),
        ("with=sign", Form.FOLDER, "with=sign", "with=sign", 0),
        ("a=mine", Form.FOLDER, "mine", "a", 0),
        ("a=./mine,priority=-3", Form.FOLDER, "./mine", "a", -3),
        ("mine,priority=7", Form.FOLDER, "mine", "mine", 7),
        ("q.io/a/b:v1", Form.IMAGE, "q.io/a/b:v1", "q.io/a/b:v1", 0),
        ("localhost:5000/b:v1", Form.IMAGE, "localhost:5000/b:v1", "localhost:5000/b:v1", 0),
        (f"q.io/b@{DIGEST}", Form.IMAGE, f"q.io/b@{DIGEST}", f"q.io/b@{DIGEST}", 0),
        ("a=q.io/b:v1,priority=2", Form.IMAGE, "q.io/b:v1", "a", 2),
    ],
)
def test_forms(text: str, form: Form, where: str, name: str, priority: int) -> None:
    assert chosen(text) == CatalogChoice(form, where, name, priority)


@pytest.mark.parametrize(
    "text", ["./none", "/none", "none/deep", "localhost:5000/b", "a=none", "file.yaml", "a=./none"]
)
def test_a_folder_that_is_not_there(text: str) -> None:
    with pytest.raises(TerminalError, match="no such folder") as caught:
        chosen(text)
    assert caught.value.hint == "give the root folder of a catalog"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("=mine", "expected NAME=DIR"),
        ("a=", "expected NAME=DIR"),
        ("", "expected NAME=DIR"),
        ("a=mine,priority=high", "the priority high is no integer"),
        ("operatorhubio,priority=3", "has a priority of its own"),
    ],
)
def test_what_says_nothing(text: str, said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        chosen(text)


COMMANDS = ("search", "show", "graph", "resolve", "rbac", "install", "plan")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_says_the_same_of_it(command: str) -> None:
    found = front.cli.get_command(click.Context(front.cli), command)
    assert found is not None
    [option] = [param for param in found.params if "--catalog" in param.opts]
    assert isinstance(option, click.Option)
    assert option.metavar == "CATALOG"
    said = "A catalog: the name of a ClusterCatalog, a folder, or an image."
    assert (option.help or "").startswith(said)
