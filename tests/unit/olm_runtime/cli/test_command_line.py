"""Command lines that end: what Python is left to do then."""

import subprocess
import sys

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
