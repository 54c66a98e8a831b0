"""The front of the command line: its list of commands, and how failures are told."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from olm_cli import __main__ as front
from olm_shared.errors import OLMError
from olm_shared.runtime import command_line


def test_help_lists_every_command_without_importing_any() -> None:
    code = (
        "import sys; from olm_cli.__main__ import cli\n"
        "cli(['--help'], standalone_mode=False)\n"
        "sys.exit(any(m in sys.modules for m in ('olm_cli.resolve', 'olm_cli.bundle', 'api.v1')))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for name, lazy in front.COMMANDS.items():
        assert f"{name} " in shown.stdout
        assert lazy.summary in shown.stdout


def test_a_search_starts_without_what_it_does_not_need() -> None:
    heavy = "asyncio", "httpx", "kubernetes", "multiprocessing", "pydantic", "yaml"
    code = f"import sys, olm_cli.search; print(*(m for m in {heavy} if m in sys.modules))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == []


@pytest.mark.parametrize("name", front.COMMANDS)
def test_every_command_is_there_and_the_list_tells_its_own_first_line(name: str) -> None:
    shown = CliRunner().invoke(front.cli, [name, "--help"])
    assert shown.exit_code == 0
    assert "Usage: cli " + name in shown.output


def test_an_unknown_command_is_a_usage_error() -> None:
    assert CliRunner().invoke(front.cli, ["nonsense"]).exit_code == 2


def test_a_failure_is_a_sentence_and_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        command_line.fail(OLMError("it broke", hint="mend it"))
    assert raised.value.code == 1
    assert capsys.readouterr().err == "error: it broke\nhint: mend it\n"


def test_a_fault_of_our_own_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def breaks(**_: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(front, "cli", breaks)
    with pytest.raises(SystemExit) as raised:
        front.main()
    assert raised.value.code == 1
    assert capsys.readouterr().err.startswith("error: unexpected ZeroDivisionError: oops\nhint: ")
