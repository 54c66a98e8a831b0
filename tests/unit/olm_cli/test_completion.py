"""Words on the Tab key, for shells and for kubectl."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from olm_cli import __main__ as front
from olm_cli.completion import completion, kubectl_complete


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.mark.parametrize(
    ("shell", "says"),
    [
        ("bash", "complete -o nosort -F _olm_completion olm"),
        ("zsh", "#compdef olm"),
        ("fish", "complete --no-files --command olm"),
    ],
)
def test_the_script_of_each_shell(shell: str, says: str) -> None:
    shown = CliRunner().invoke(completion, [shell])
    assert shown.exit_code == 0
    assert says in shown.output
    assert "_OLM_COMPLETE" in shown.output


def test_what_the_script_asks_for_is_answered_without_importing_commands() -> None:
    code = (
        "import sys; from olm_cli.__main__ import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "assert not any(m in sys.modules for m in ('olm_cli.search', 'olm_cli.resolve'))"
    )
    asked = {"_OLM_COMPLETE": "bash_complete", "COMP_WORDS": "olm se", "COMP_CWORD": "1"}
    completed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | asked,
        check=True,
    )  # fmt: skip
    assert completed.stdout == "plain,search\n"


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (["sea"], ["search\tFind packages by words.", ":4"]),
        (["completion", ""], ["bash", "zsh", "fish", ":4"]),
        (["nothing-like-it"], [":0"]),
    ],
)
def test_kubectl_is_answered_in_its_form(
    words: list[str],
    lines: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["kubectl_complete-olm", *words])
    kubectl_complete()
    assert capsys.readouterr().out.splitlines() == lines


@pytest.mark.parametrize(
    ("program", "usage"), [("/x/kubectl-olm", "Usage: kubectl olm "), ("/x/olm", "Usage: olm ")]
)
def test_the_plugin_is_called_as_kubectl_calls_it(
    program: str,
    usage: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", [program, "--help"])
    with pytest.raises(SystemExit):
        front.main()
    assert capsys.readouterr().out.startswith(usage)
