"""Prints what pytest is to select: whether pages of the documentation have to be followed again.

They are when they, or the commands and charts they name, differ from main; when that cannot be
known, as in a clone of main itself; and with OLMV1_PAGES=always.
"""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tests.skipped import note

ROOT = Path(__file__).parents[1]
VARIABLE = "OLMV1_PAGES"
MAIN = "origin/main"
FOLLOWED = (
    "README.md",
    "charts/",
    "config/",
    "docs/",
    "e2e/demo/",
    "e2e/olm/",
    "olm_cli/",
    "olm_client/",
    "opm/",
    "requirements/",
    "tests/integration/pages/",
)
"""Files and folders that pages quote or run."""


def changed(repository: Path, main: str = MAIN) -> list[str] | None:
    """The files that differ from main, uncommitted ones too; None where that cannot be known."""
    try:
        base = _git(repository, "merge-base", "HEAD", main)
        head = _git(repository, "rev-parse", "HEAD")
        differing = _git(repository, "diff", "--name-only", *base)
        untracked = _git(repository, "ls-files", "--others", "--exclude-standard")
    except (OSError, subprocess.CalledProcessError):
        return None
    found = sorted({*differing, *untracked})
    return None if base == head and not found else found


def followed(paths: Iterable[str] | None) -> bool:
    """Whether pages are to be followed after a change of these files."""
    return paths is None or any(path.startswith(FOLLOWED) for path in paths)


def _git(repository: Path, *arguments: str) -> list[str]:
    command = ("git", "-C", str(repository), *arguments)
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    return ran.stdout.splitlines()


if __name__ == "__main__":
    if os.environ.get(VARIABLE) == "always" or followed(changed(ROOT)):
        sys.stdout.write("integration or pages\n")
    else:
        note([f"pages of the documentation: nothing they follow has changed ({VARIABLE}=always)"])
        sys.stdout.write("integration\n")
