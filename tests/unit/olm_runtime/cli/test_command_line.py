"""Command lines that end: what Python is left to do then."""

import subprocess
import sys

import pytest

ENDING = """
import atexit, gc
import click
from olm_runtime.cli.command_line import run

atexit.register(lambda: print("collected at the end:", len(gc.get_objects())))

@click.command()
def command():
    {body}

run(command, "command")
"""


def _left_to_collect(body: str) -> int:
    code = ENDING.format(body=body)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    return int(ran.stdout.rpartition(":")[2])


def test_a_command_that_ends_leaves_nothing_in_which_cycles_are_looked_for() -> None:
    assert _left_to_collect("pass") < 100


def test_nor_does_one_that_ends_with_another_exit_code() -> None:
    assert _left_to_collect("raise SystemExit(2)") < 100


FREEING = """
import atexit, sys, threading, time
from olm_runtime.cli.ending import free_nothing
free_nothing()
import click
from olm_runtime.cli.command_line import run

class Noted:
    def __del__(self):
        print("freed", flush=True)

kept = Noted()
sys.modules["holds it until the end"] = kept
atexit.register(print, "registered")
threading.Thread(target=lambda: (time.sleep(0.1), print("thread"))).start()

@click.command()
def command():
    print("command")
    {body}

run(command, "command")
"""


@pytest.mark.parametrize(
    ("body", "code"), [("pass", 0), ("raise SystemExit(3)", 3), ("raise OSError('no')", 1)]
)
def test_all_that_a_command_began_ends_and_then_nothing_is_freed(body: str, code: int) -> None:
    script = FREEING.format(body=body)
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout.split()) == (code, ["command", "thread", "registered"])


def test_a_text_to_end_with_is_printed_by_python() -> None:
    script = FREEING.format(body="raise SystemExit('text')")
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr.strip()) == (1, "text")
