"""Every program says its version."""

import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

COMPLETES = "kubectl_complete-olm"
"""kubectl calls it with the words of another command line, so that it has no options."""


def programs() -> list[str]:
    project = Path(__file__).parents[2] / "pyproject.toml"
    scripts = tomllib.loads(project.read_text())["project"]["scripts"]
    return sorted(scripts.keys() - {COMPLETES})


@pytest.mark.parametrize("program", programs())
def test_every_program_says_its_version(program: str) -> None:
    command = (str(Path(sys.executable).with_name(program)), "--version")
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.endswith(f", version {version('olmv1')}\n")
