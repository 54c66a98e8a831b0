"""Ports that two harnesses on one machine choose at the same time."""

import subprocess
import sys

import pytest

from e2e.harness import ports
from e2e.harness.errors import HarnessError

HOLD = """
import sys
from e2e.harness import ports
ports.FIRST, ports.LAST = 20000, 20008
print(sorted(ports.free_port() for _ in range(4)), flush=True)
sys.stdin.read()
"""


def test_a_port_belongs_to_one_process_also_while_nobody_listens(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = str(tmp_path_factory.mktemp("claims"))
    monkeypatch.setenv("TMPDIR", folder)
    monkeypatch.setattr("tempfile.tempdir", folder)
    monkeypatch.setattr(ports, "_can_listen", lambda *_: True)
    monkeypatch.setattr(ports, "_claims", {})
    with subprocess.Popen(
        (sys.executable, "-c", HOLD), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        theirs = set(map(int, other.stdout.readline().strip(b"[]\n").split(b",")))
        monkeypatch.setattr(ports, "FIRST", 20000)
        monkeypatch.setattr(ports, "LAST", 20008)
        ours = {ports.free_port() for _ in range(4)}
        assert theirs | ours == set(range(20000, 20008))
        with pytest.raises(HarnessError):
            ports.free_port()
        other.communicate()
    assert ports.free_port() in theirs
