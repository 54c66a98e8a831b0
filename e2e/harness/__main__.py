"""Commands: `python -m e2e.harness binaries`, `helm` and `up`."""

import argparse
import signal
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path

from e2e.harness.binaries import control_plane_binaries, helm_binary, registry_binary
from e2e.harness.components import AuditLevel, ControlPlaneOptions
from e2e.harness.controlplane import ControlPlane
from e2e.harness.errors import HarnessError
from e2e.harness.registry import Registry


def main() -> None:
    """Run the command that the arguments name; faults are one message, exit code 1."""
    arguments = _parser().parse_args()
    try:
        arguments.run(arguments)
    except HarnessError as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m e2e.harness", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    binaries = commands.add_parser(
        "binaries", help="find or build all programs, and print where they are"
    )
    binaries.set_defaults(run=_binaries)

    helm = commands.add_parser("helm", help="find or build helm, and print where it is")
    helm.set_defaults(run=_helm)

    up = commands.add_parser(
        "up", help="start a control plane and a registry, and run them until Ctrl-C"
    )
    up.add_argument(
        "--work-dir", type=Path, help="where state is kept (default: a temporary folder)"
    )
    up.add_argument(
        "--no-registry", dest="registry", action="store_false", help="the control plane only"
    )
    up.add_argument("--audit", type=AuditLevel, choices=list(AuditLevel), help="write an audit log")
    up.set_defaults(run=_up)
    return parser


def _binaries(_: argparse.Namespace) -> None:
    found = control_plane_binaries()
    for field in fields(found):
        program = getattr(found, field.name)
        print(f"{field.name}\t{program.origin}\t{' '.join(program.argv)}")
    registry = registry_binary()
    print(f"registry\t{registry.origin}\t{' '.join(registry.argv)}")


def _helm(_: argparse.Namespace) -> None:
    print(*helm_binary().argv)


def _up(arguments: argparse.Namespace) -> None:
    # A service manager says SIGTERM where a person says Ctrl-C, and a shell script that puts us in
    # the background has SIGINT ignored.
    for request_to_end in (signal.SIGINT, signal.SIGTERM):
        signal.signal(request_to_end, signal.default_int_handler)
    with ExitStack() as stack:
        folder: Path = arguments.work_dir or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="olmv1-"))
        )
        options = ControlPlaneOptions(audit=arguments.audit)
        control_plane = ControlPlane(folder / "control-plane", options=options)
        stack.enter_context(control_plane)
        print(f"export KUBECONFIG={control_plane.kubeconfig}")
        if arguments.registry:
            registry = stack.enter_context(Registry(folder / "registry"))
            print(f"export OLMV1_REGISTRY={registry.address}")
            print(f"export OLMV1_REGISTRY_CA={registry.ca_file}")
        sys.stdout.flush()
        print("running; Ctrl-C stops", file=sys.stderr, flush=True)
        _wait_for_interrupt()


def _wait_for_interrupt() -> None:
    try:
        while True:
            signal.pause()
    except KeyboardInterrupt:
        print("stopping", file=sys.stderr)


if __name__ == "__main__":
    main()
