"""What was skipped is gathered over several runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.skipped import VARIABLE, note, summary

ROOT = Path(__file__).parents[3]


def test_nothing() -> None:
    assert summary([]) == ["nothing was skipped"]


def test_each_reason_once() -> None:
    assert summary(["no zsh", "no fish", "no fish"]) == [
        "skipped:",
        "  2 x no fish",
        "  1 x no zsh",
    ]


def test_runs_add_to_the_file_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    note(["not noted"])
    monkeypatch.setenv(VARIABLE, str(tmp_path / "skipped"))
    note(["one\n  reason"])
    note(["another"])
    assert (tmp_path / "skipped").read_text() == "one reason\nanother\n"


def test_a_run_notes_each_skip_once(tmp_path: Path) -> None:
    given = tmp_path / "test_given.py"
    given.write_text("import pytest\ndef test_given():\n    pytest.skip('no moon')\n")
    options = ["-n1", "-q", "-p", "no:cacheprovider", "-p", "tests.conftest", f"--rootdir={ROOT}"]
    subprocess.run(
        [sys.executable, "-m", "pytest", *options, f"-c{ROOT}/pyproject.toml", str(given)],
        check=True,
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, VARIABLE: str(tmp_path / "skipped")},
    )
    assert (tmp_path / "skipped").read_text() == "no moon\n"
