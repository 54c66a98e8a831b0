"""The front of the command line: its list of commands, and how failures are reported."""

import errno
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from olm_cli import __main__ as front
from olm_runtime.cli import command_line
from olm_runtime.errors import OLMError


def test_help_lists_every_command_without_importing_any() -> None:
    code = (
        "import sys; from olm_cli.__main__ import cli\n"
        "cli(['--help'], standalone_mode=False)\n"
        "heavy = ('olm_cli.resolve', 'olm_cli.bundle', 'api.olm.v1', 'dataclasses')\n"
        "sys.exit(any(m in sys.modules for m in heavy))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for name, lazy in front.COMMANDS.items():
        assert f"{name} " in shown.stdout
        assert lazy.summary in shown.stdout


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("search", ("asyncio", "yaml", "zstandard", "olm_content.versions")),
        ("status", ("asyncio", "api.olm.v1.clusterextension", "api.metadata", "tempfile")),
        ("why", ("aiohttp", "yaml")),
        (
            "plan",
            (
                "aiohttp",
                "yaml",
                "sqlite3",
                "zipfile",
                "tempfile",
                "olm_runtime.registry.workstation",
            ),
        ),
    ],
)
def test_a_command_starts_without_what_it_does_not_need(
    command: str, more: tuple[str, ...]
) -> None:
    heavy = ("httpx", "kubernetes", "multiprocessing", "pydantic", *more)
    code = f"import sys, olm_cli.{command}; print(*(m for m in {heavy} if m in sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


@pytest.mark.parametrize("name", front.COMMANDS)
def test_every_command_is_there_and_the_list_shows_its_own_first_line(name: str) -> None:
    shown = CliRunner().invoke(front.cli, [name, "--help"])
    assert shown.exit_code == 0
    assert "Usage: cli " + name in shown.output


def test_an_unknown_command_is_a_usage_error() -> None:
    assert CliRunner().invoke(front.cli, ["nonsense"]).exit_code == 2


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("instal", "one of: 'install', 'uninstall'"),
        ("serach", "'search'"),
        ("rollbak", "'rollback'"),
    ],
)
def test_a_command_that_is_nearly_right_is_suggested(given: str, meant: str) -> None:
    message = CliRunner().invoke(front.cli, [given]).stderr
    assert f"No such command '{given}'. Did you mean {meant}?" in message


@pytest.mark.parametrize(
    ("raised", "message"),
    [
        (OLMError("it broke", hint="mend it"), "error: it broke\nhint: mend it\n"),
        (
            OSError(errno.EACCES, "Permission denied", "x.yaml"),
            "error: x.yaml: Permission denied\n",
        ),
        (MemoryError(), "error: there is not enough memory for this\n"),
        (EOFError(), "error: a question was not answered: standard input has ended\n"),
    ],
)
def test_a_failure_is_a_sentence_and_perhaps_a_hint(
    raised: Exception, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended_with(raised) == 1
    assert capsys.readouterr().err.lstrip() == message


def test_a_fault_of_our_own_is_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended_with(ZeroDivisionError("oops")) == 1
    message = capsys.readouterr().err
    assert message.startswith(
        "error: unexpected ZeroDivisionError: oops\nhint: this is a fault of olm"
    )


def ended_with(raised: Exception) -> object:
    """The exit code of a command line whose command raises."""

    @click.command()
    def breaks() -> None:
        raise raised

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["olm"])
        patch.setattr(sys, "unraisablehook", sys.unraisablehook)  # which it replaces
        with pytest.raises(SystemExit) as ended:
            command_line.run(breaks, "olm")
    return ended.value.code


OLM = str(Path(sys.executable).with_name("olm"))
MATCH = f"{OLM} version match '>=1' 1.0"


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        (f"{MATCH} > /dev/full", 1, "No space left on device"),
        (f"{MATCH} -o json > /dev/full", 1, "No space left on device"),
        (f"{OLM} --help > /dev/full", 1, "No space left on device"),
        (f"{MATCH} 2> /dev/full", 0, ""),
        (f"{OLM} nonsense 2> /dev/full", 1, ""),
        (f"{MATCH} >&-", 0, ""),
        (f"{MATCH} -o json >&- 2>&-", 0, ""),
        (f"{OLM} plan - <&-", 2, "standard input has no ClusterExtension"),
        (f"{OLM} version match --batch none", 1, "error: none: No such file or directory"),
        (f"{OLM} resolve --batch /", 1, "error: /: Is a directory"),
        (f"set -o pipefail; {MATCH} | true", 1, ""),
    ],
)
def test_what_the_shell_does_to_a_command_is_no_fault_of_it(
    line: str, code: int, message: str
) -> None:
    ran = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert ran.returncode == code
    assert message in ran.stderr
    assert bool(ran.stderr) == bool(message)
    assert "fault of" not in ran.stderr
    assert "Traceback" not in ran.stderr
