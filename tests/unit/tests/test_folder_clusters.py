"""A cluster of a folder's own ends with the folder, and one worker alone makes it."""

import re
import subprocess
import sys
from pathlib import Path

from tests.scheduling import OWN_CLUSTER

ROOT = Path(__file__).parents[3]
TWO = ("tests/integration/doctor", "tests/integration/cluster_updates")
FIXTURE = re.compile(r" *(SETUP|TEARDOWN) +P (\w+)")
FILE = re.compile(r"(tests/integration/\w+)/\w+\.py ")
PACKAGE_SCOPE = re.compile(r"own_\w+\([^()]*\"package\"|scope=\"package\"")


def setup_plan(*folders: str) -> list[str]:
    """What pytest would set up and tear down, in this order; it does neither."""
    command = [sys.executable, "-m", "pytest", "--setup-plan", "-m", "integration", *folders]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_what_lasts_for_a_folder_ends_before_the_next_begins() -> None:
    folder, lasting, met = "", set[str](), set[tuple[str, str]]()
    for line in setup_plan(*TWO):
        if found := FILE.match(line):
            assert not lasting or found[1] == folder, f"{lasting} of {folder} outlast it"
            folder = found[1]
        elif found := FIXTURE.match(line):
            (lasting.add if found[1] == "SETUP" else lasting.remove)(found[2])
            met.add((folder, found[2]))
    assert not lasting
    assert met >= {(folder, "control_plane") for folder in TWO}


def test_a_folder_with_a_cluster_of_its_own_stays_with_one_worker() -> None:
    files = (ROOT / "tests/integration").glob("*/*.py")
    folders = {
        str(file.parent.relative_to(ROOT))
        for file in files
        if PACKAGE_SCOPE.search(file.read_text())
    }
    assert folders == OWN_CLUSTER
