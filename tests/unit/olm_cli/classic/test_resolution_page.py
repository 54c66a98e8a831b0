"""What docs/classic/resolution.md shows is what the commands print."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from olm_cli.classic.group import classic

PAGE = Path(__file__).parents[4] / "docs/classic/resolution.md"
FILE = re.compile(r"`([a-z/]+\.yaml)`:\n\n```yaml\n(.*?)```", re.DOTALL)
TRANSCRIPT = re.compile(r"```console\n\$ olm classic ([^\n]+)\n(.*?)```", re.DOTALL)


def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    text = PAGE.read_text()
    files = FILE.findall(text)
    assert {name for name, _ in files} == {
        "catalog/catalog.yaml",
        "subscription.yaml",
        "wrong.yaml",
    }
    for name, content in files:
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(content)
    transcripts = TRANSCRIPT.findall(text)
    assert len(transcripts) == 2
    for command, printed in transcripts:
        result = CliRunner().invoke(classic, shlex.split(command))
        assert result.output == printed, command
