"""Pages are followed when what they follow has changed, or when that cannot be known."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.pages import FOLLOWED, ROOT, changed, followed

Git = Callable[..., None]


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """A repository with a file on the branch `main`."""

    def run(*arguments: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        command = ("git", "-C", str(tmp_path), *identity, *arguments)
        subprocess.run(command, check=True, capture_output=True)

    run("init", "--initial-branch=main")
    (tmp_path / "a").write_text("1")
    run("add", "a")
    run("commit", "-m", "a")
    return run


def test_main_itself_cannot_be_compared(git: Git, tmp_path: Path) -> None:
    assert changed(tmp_path, "main") is None


def test_nor_can_what_has_no_main(git: Git, tmp_path: Path) -> None:
    assert changed(tmp_path, "origin/main") is None
    assert changed(tmp_path / "none", "main") is None


def test_committed_changed_and_new_files_count(git: Git, tmp_path: Path) -> None:
    git("checkout", "-b", "branch")
    (tmp_path / "b").write_text("1")
    git("add", "b")
    git("commit", "-m", "b")
    (tmp_path / "a").write_text("2")
    (tmp_path / "c").write_text("1")
    assert changed(tmp_path, "main") == ["a", "b", "c"]


def test_what_main_has_got_since_does_not(git: Git, tmp_path: Path) -> None:
    git("checkout", "-b", "branch")
    git("commit", "--allow-empty", "-m", "nothing")
    git("checkout", "main")
    (tmp_path / "b").write_text("1")
    git("add", "b")
    git("commit", "-m", "b")
    git("checkout", "branch")
    assert changed(tmp_path, "main") == []


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (None, True),
        ([], False),
        (["catalogd/start.py"], False),
        (["catalogd/start.py", "docs/how-to/install.md"], True),
        (["olm_cli/start.py"], True),
    ],
)
def test_what_is_followed(paths: list[str] | None, expected: bool) -> None:
    assert followed(paths) is expected


def test_what_is_followed_is_there() -> None:
    assert [path for path in FOLLOWED if not (ROOT / path).exists()] == []
