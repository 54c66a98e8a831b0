"""What a command prints on a real terminal, however narrow, and elsewhere."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.olm.terminal import on_terminal

DESCRIPTION = "Runs greetings " * 12
ESCAPE = "\x1b["


@pytest.fixture
def search(tmp_path: Path) -> list[str]:
    """A command that prints a table, and needs no cluster."""
    package, version = "greetings-operator", "1.10.0"
    blobs = [
        {
            "schema": "olm.package",
            "name": package,
            "defaultChannel": "stable",
            "description": DESCRIPTION,
        },
        {
            "schema": "olm.channel",
            "package": package,
            "name": "stable",
            "entries": [{"name": f"{package}.v{version}"}],
        },
        {
            "schema": "olm.bundle",
            "package": package,
            "name": f"{package}.v{version}",
            "image": "registry.example.com/greetings:v1",
            "properties": [
                {"type": "olm.package", "value": {"packageName": package, "version": version}}
            ],
        },
    ]
    folder = tmp_path / "catalog"
    folder.mkdir()
    (folder / "index.json").write_text("\n".join(map(json.dumps, blobs)))
    program = str(Path(sys.executable).with_name("olm"))
    return [program, "search", "greetings", "--catalog", str(folder)]


def user_of(folder: Path) -> dict[str, str]:
    """A user whose cache is in a folder."""
    return os.environ | {"XDG_CACHE_HOME": str(folder / "cache")}


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_table_fits_and_keeps_names_and_versions(
    search: list[str], tmp_path: Path, columns: int, variables: dict[str, str]
) -> None:
    lines = on_terminal(search, columns, user_of(tmp_path), variables)
    text = "\n".join(lines)
    assert "greetings-operator" in text
    assert "1.10.0" in text
    assert "…" in text
    assert ESCAPE not in text
    below = [line for line in lines if "Runs greetings" in line]
    assert below
    assert all(len(line) <= columns for line in below)


def test_a_terminal_gets_colours_and_a_pipe_all_the_text(search: list[str], tmp_path: Path) -> None:
    assert any(ESCAPE in line for line in on_terminal(search, 80, user_of(tmp_path)))
    environment = user_of(tmp_path) | {"TERM": "xterm"}
    piped = subprocess.run(search, env=environment, capture_output=True, text=True, check=True)
    assert ESCAPE not in piped.stdout
