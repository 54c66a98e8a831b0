"""Commands: `python -m e2e.node prepare`, `run -- COMMAND` and `up`."""

import argparse
import os
import sys
import time

from e2e.harness.errors import CannotRun, HarnessError
from e2e.harness.required import VARIABLE, is_required
from e2e.node.cluster import Node
from e2e.node.requirements import prepare, require_machine
from e2e.node.sandbox import in_box, run_in_box, work_folder

SKIPPED = 77
"""The exit code that says that nothing was tried, as test runners of the GNU tools have it."""


def main() -> None:
    """Run the command that the arguments name; faults are one message, exit code 1."""
    arguments = _parser().parse_args()
    try:
        if not in_box():
            require_machine()
        sys.exit(arguments.run(arguments))
    except CannotRun as reason:
        if is_required("node"):
            sys.exit(f"error: {reason}; {VARIABLE} demands a node")
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    except HarnessError as error:
        sys.exit(f"error: {error}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m e2e.node", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    get_ready = commands.add_parser(
        "prepare", help="install the packages, build the programs and images"
    )
    get_ready.set_defaults(run=lambda _: prepare())

    run = commands.add_parser("run", help="run a command in a box where a Node can be started")
    run.add_argument("command", nargs="+", metavar="COMMAND")
    run.set_defaults(run=lambda arguments: run_in_box(arguments.command))

    up = commands.add_parser("up", help="a shell beside a running node, until it ends")
    up.set_defaults(run=lambda _: run_in_box([sys.executable, "-m", "e2e.node", "shell"]))

    shell = commands.add_parser("shell", help="what `up` runs in its box")
    shell.set_defaults(run=_shell)
    return parser


def _shell(_: argparse.Namespace) -> int:
    began = time.monotonic()
    with Node(work_folder()) as node:
        print(f"ready after {time.monotonic() - began:.1f} s; registry: {node.registry.address}")
        os.environ["KUBECONFIG"] = str(node.control_plane.kubeconfig)
        return os.spawnlp(os.P_WAIT, os.environ.get("SHELL", "sh"), "sh")


if __name__ == "__main__":
    main()
