"""The scripts in the shells themselves: a word is begun, and the Tab key pressed."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

PATIENCE = 60
"""Seconds until a shell that shows nothing is given up."""
BASH = ("bash", "--norc", "--noprofile", "-i")
ZSH = ("zsh", "-f", "-i")
ZSH_SETUP = "autoload -Uz compinit; compinit -D -u; "


@pytest.fixture(autouse=True)
def _surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs on the PATH; nothing of the user's own shell."""
    programs = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", programs + os.pathsep + os.environ["PATH"])
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("program", "begun", "completed"),
    [
        ("olm", "olm sea", b"olm search "),
        ("opm", "opm alpha li", b"opm alpha list "),
        ("opm", "opm render --migrate-l", b"opm render --migrate-level "),
    ],
)
@pytest.mark.parametrize(("shell", "setup"), [(BASH, ""), (ZSH, ZSH_SETUP)], ids=["bash", "zsh"])
def test_the_tab_key_completes_a_word(
    shell: Sequence[str], setup: str, program: str, begun: str, completed: bytes
) -> None:
    needed(shell[0])
    typed = f"{setup}source <({program} completion {shell[0]})\n{begun}\t"
    assert completed in display(shell, typed, until=completed)


@pytest.mark.parametrize(
    ("program", "begun", "completed"),
    [("olm", "olm sea", "search"), ("opm", "opm alpha li", "list")],
)
def test_fish_completes_a_word(program: str, begun: str, completed: str) -> None:
    needed("fish")
    code = f"{program} completion fish | source; complete --do-complete '{begun}'"
    assert run("fish", "--no-config", "-c", code).split("\t")[0] == completed


def test_kubectl_completes_a_word_of_its_plugin() -> None:
    needed("kubectl")
    assert run("kubectl", "__complete", "olm", "sea").startswith("search\t")


def needed(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not there")


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def display(shell: Sequence[str], typed: str, *, until: bytes) -> bytes:
    """What a terminal shows once `until` is there, or when time is up."""
    terminal, end = pty.openpty()
    shown, begin = b"", time.monotonic()
    with subprocess.Popen(shell, stdin=end, stdout=end, stderr=end, start_new_session=True) as run:
        os.write(terminal, typed.encode())
        while until not in shown and time.monotonic() < begin + PATIENCE:
            if select.select([terminal], [], [], 0.1)[0]:
                shown += os.read(terminal, 4096)
        run.kill()
    os.close(end)
    os.close(terminal)
    return shown
