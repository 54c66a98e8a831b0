"""How a long-running program ends: with a sentence, never with a traceback."""

import errno
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE

import pytest

from olm_runtime.errors import TerminalError
from olm_runtime.program import run

FULL = """error: /cache has no room: No space left on device
hint: make room, or name another folder in TMPDIR"""
FAULT = """error: unexpected ZeroDivisionError: oops
hint: this is a fault of the program; please report it, with the log of -v=4"""


@pytest.mark.parametrize(
    ("raised", "message"),
    [
        (TerminalError("it broke", hint="mend it"), "error: it broke\nhint: mend it"),
        (OSError(errno.EACCES, "Denied", "/cache"), "error: /cache: Denied"),
        (
            OSError(errno.ENOSPC, "No space left on device", "/cache"),
            FULL,
        ),
        (
            ZeroDivisionError("oops"),
            FAULT,
        ),
    ],
)
def test_what_ends_a_program_is_reported(raised: Exception, message: str) -> None:
    async def main() -> None:
        raise raised

    with pytest.raises(SystemExit) as ended:
        run(main)
    assert ended.value.code == message


SLEEPER = """
import asyncio, gc
from olm_runtime.program import run

async def main():
    print("ready", flush=True)
    try:
        await asyncio.sleep(600)
    finally:
        print("looks for cycles:", gc.isenabled(), flush=True)

run(main)
"""


def test_a_program_that_is_asked_to_end_looks_for_no_cycles() -> None:
    with subprocess.Popen([sys.executable, "-c", SLEEPER], stdout=PIPE, text=True) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        program.terminate()
        assert program.stdout.read() == "looks for cycles: False\n"
    assert program.returncode == 0


def test_a_broken_kubeconfig_ends_operator_controller_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("foo: [")
    program = str(Path(sys.executable).with_name("operator-controller"))
    command = [program, f"--kubeconfig={tmp_path / 'config'}", "--health-probe-bind-address=0"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180)
    assert ran.returncode == 1
    assert "error: cannot read the cluster configuration: while parsing" in ran.stderr
    assert "Traceback" not in ran.stderr
