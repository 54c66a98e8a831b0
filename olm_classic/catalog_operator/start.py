"""Where the console script begins: Ctrl-C is silent while the rest is imported, too."""

import os

from olm_runtime.cli.interrupts import leave_at_once

# gRPC reads these when it is imported. What it would log is said by us; and what we start are
# other programs: where it makes its descriptors anew at a fork, it may close those of others.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")


def main() -> None:
    """Reads the flags and runs the program, whose parts are imported only to run it."""
    leave_at_once()
    from olm_classic.catalog_operator.settings import parse_settings

    settings = parse_settings()
    from olm_classic.catalog_operator.__main__ import main as run

    run(settings)
