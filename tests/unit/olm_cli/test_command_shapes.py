"""What completion keeps of commands completes as the commands do."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.shell_completion import CompletionItem, ShellComplete

from olm_cli import __main__ as front
from olm_cli import catalog
from olm_cli.classic import group
from olm_cli.cluster import group as cluster_group
from olm_cli.cluster.release import group as release_group
from olm_cli.command_shapes import quick_command, restored, shape_of
from olm_client.user_cache import user_cache


@pytest.fixture(autouse=True)
def _nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))


LAZY = {
    **{
        name: lazy
        for name, lazy in front.COMMANDS.items()
        if name not in {"catalog", "classic", "cluster"}
    },
    **{f"catalog {name}": lazy for name, lazy in catalog.COMMANDS.items()},
    **{f"classic {name}": lazy for name, lazy in group.COMMANDS.items()},
    **{
        f"cluster {name}": lazy
        for name, lazy in cluster_group.COMMANDS.items()
        if name != "release"
    },
    **{f"cluster release {name}": lazy for name, lazy in release_group.COMMANDS.items()},
}


def offered(command: click.Command, *words: str) -> list[tuple[str, str, str | None]]:
    """But for the options of the help: click keeps them as a command was first used."""
    *before, incomplete = words
    # As the front has it: click keeps the option of a command that was once asked for its help.
    context = {"help_option_names": ["-h", "--help"]}
    found: list[CompletionItem] = ShellComplete(command, context, "x", "").get_completions(
        list(before), incomplete
    )
    completions = [(item.value, item.type, item.help) for item in found]
    return [each for each in completions if each[0] not in ("-h", "--help")]


def lines(command: click.Command, *path: str) -> Iterator[tuple[str, ...]]:
    """Command lines whose last word is to be completed: the start, options, their values."""
    yield (*path, "")
    yield (*path, "-")
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            yield from lines(below, *path, name)
    for param in command.params:
        if isinstance(param, click.Option) and not param.is_flag:
            yield (*path, param.opts[-1], "")


@pytest.mark.parametrize("name", LAZY)
def test_a_command_and_what_is_kept_of_it_offer_the_same(name: str) -> None:
    command = LAZY[name].load()
    cached = restored(shape_of(command), LAZY[name].load)
    for words in lines(command):
        assert offered(cached, *words) == offered(command, *words), words


def test_what_is_kept_is_used_until_the_code_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    lazy = front.COMMANDS["history"]
    assert quick_command(lazy) is lazy.load(), "the first time it is imported"
    assert quick_command(lazy) is not lazy.load()
    [file] = user_cache().glob("commands-*.json")
    file.write_bytes(b"damaged")
    assert quick_command(lazy) is lazy.load()
    assert quick_command(lazy) is not lazy.load()
    monkeypatch.setattr(sys, "version", "another")
    assert quick_command(lazy) is lazy.load()
    [other] = user_cache().glob("commands-*.json")
    assert other != file


def test_without_a_cache_commands_are_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    lazy = front.COMMANDS["history"]
    assert quick_command(lazy) is quick_command(lazy) is lazy.load()


def test_the_second_time_nothing_heavy_is_imported(tmp_path: Path) -> None:
    code = (
        "import sys; from olm_cli.__main__ import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print('asyncio' in sys.modules, 'olm_cli.install' in sys.modules)"
    )
    asked = {
        "_OLM_COMPLETE": "bash_complete",
        "COMP_WORDS": "olm install x --de",
        "COMP_CWORD": "3",
    }
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | asked,
            check=True,
        ).stdout
        for _ in range(2)
    ]  # fmt: skip
    assert [each.strip() for each in outputs] == ["True True", "False False"]
