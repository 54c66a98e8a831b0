"""Ctrl-C while a module is imported, and while a question waits for its answer."""

import os
import pty
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from e2e.harness.controlplane import wait_until

INTERRUPTED_AT = """
import importlib.abc, os, signal, sys

class Interrupting(importlib.abc.MetaPathFinder):
    def find_spec(self, name, *_):
        if name == "{module}":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
signal.signal(signal.SIGINT, signal.default_int_handler)  # as it is where a terminal is
sys.argv = {arguments}
from {package}.start import main
main()
"""


@pytest.mark.parametrize(
    ("package", "arguments", "module"),
    [
        ("olm_cli", ["olm", "--help"], "click"),
        ("olm_cli", ["olm", "search", "x"], "olm_cli.search"),
        ("olm_cli", ["olm", "search", "x", "--kubeconfig=none"], "kubernetes"),
        ("olm_cli", ["olm", "why", "x"], "pydantic"),
        ("olm_cli", ["olm", "why", "x"], "olm_client.resolution.situation"),
        ("opm", ["opm", "--help"], "click"),
        ("opm", ["opm", "render", "none"], "opm.commands.render"),
        ("catalogd", ["catalogd", "--tls-cert=c", "--tls-key=k"], "uvicorn"),
        ("operator_controller", ["operator-controller"], "olm_runtime.kube.client"),
    ],
)
def test_ctrl_c_while_a_module_is_imported_is_silent(
    package: str, arguments: list[str], module: str
) -> None:
    code = INTERRUPTED_AT.format(package=package, arguments=arguments, module=module)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "")


def test_ctrl_c_that_is_ignored_stays_ignored() -> None:
    code = INTERRUPTED_AT.replace("signal.default_int_handler", "signal.SIG_IGN").format(
        package="olm_cli", arguments=["olm", "version", "match", "1", "1"], module="click"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "1 is in 1\n")


def sleeps(pid: int) -> bool:
    """Python forgets a signal between the end of a prompt and the start of reading."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"


def test_ctrl_c_in_answer_to_a_question_is_silent() -> None:
    terminal, theirs = pty.openpty()
    opm = str(Path(sys.executable).with_name("opm"))
    asking = subprocess.Popen(
        [opm, "login", "localhost:1"], stdin=theirs, stdout=theirs, stderr=theirs, process_group=0
    )
    os.close(theirs)
    shown = b""
    while b"Username: " not in shown:
        shown += os.read(terminal, 100)
    wait_until(lambda: sleeps(asking.pid), what="it waits for an answer")
    while asking.poll() is None:  # Python misses a signal just before it begins to read
        asking.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            asking.wait(2)
    assert asking.returncode == 130
    with pytest.raises(OSError, match="Input/output error"):  # the end: nothing more was shown
        os.read(terminal, 100)
    os.close(terminal)


def test_ctrl_c_ends_a_batch_and_the_processes_that_answer_it(tmp_path: Path) -> None:
    """As a terminal sends it: to all of them."""
    lines = tmp_path / "lines"
    lines.write_text('{"id": 1, "dir": "none"}\n' * 200_000)
    olm = str(Path(sys.executable).with_name("olm"))
    batch = subprocess.Popen(
        [olm, "bundle", "render", "--batch", str(lines)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
        text=True,
    )
    assert batch.stdout is not None
    assert batch.stdout.readline()
    os.killpg(batch.pid, signal.SIGINT)
    _, errors = batch.communicate(timeout=120)
    assert (batch.returncode, errors) == (130, "")
