"""Daemons that are forked: as processes that were started by themselves."""

import os
import signal
import sys
from pathlib import Path

import pytest

from e2e.harness.controlplane import wait_until
from e2e.harness.errors import ProcessFailed
from e2e.harness.ports import free_port
from e2e.olm.forked import ForkedDaemon

PROGRAM = Path(sys.executable).with_name("update-service")


@pytest.mark.parametrize(
    ("argument", "code", "said"), [("--version", 0, ""), ("--nonsense", 2, "--nonsense")]
)
def test_its_arguments_its_output_and_its_end_are_its_own(
    tmp_path: Path, argument: str, code: int, said: str
) -> None:
    log, stdout = tmp_path / "log", tmp_path / "stdout"
    child = ForkedDaemon("update-service", [str(PROGRAM), argument], log=log, stdout=stdout)
    child.start()
    assert child.wait(60.0) == child.returncode == code
    assert child.pid is None
    assert said in log.read_text()
    assert bool(stdout.read_text()) == (code == 0)


def test_it_is_in_its_folder_and_a_session_of_its_own_until_it_is_killed(tmp_path: Path) -> None:
    (tmp_path / "graph").mkdir()
    addresses = [
        f"--{name}=127.0.0.1:{free_port()}" for name in ("bind-address", "metrics-bind-address")
    ]
    argv = [str(PROGRAM), "--graph-data=graph", *addresses]
    child = ForkedDaemon("update-service", argv, log=tmp_path / "log", cwd=tmp_path)
    child.start()
    pid = child.pid
    assert pid is not None
    wait_until(lambda: os.getsid(pid) == pid, what="it has a session")
    wait_until(lambda: Path(f"/proc/{pid}/cwd").readlink() == tmp_path, what="it is in its folder")
    with pytest.raises(ProcessFailed, match="is running already"):
        child.start()
    child.kill()
    assert child.returncode == -signal.SIGKILL
    child.stop()
