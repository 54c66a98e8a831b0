"""Where the console script begins: Ctrl-C is silent while the rest is imported, too."""

import gc

from olm_runtime.cli.interrupts import leave_at_once

ALLOCATIONS = 100_000
"""Between two collections of garbage: imports make none, and looking for it takes a twentieth."""


def main() -> None:
    """Runs the program."""
    leave_at_once()
    gc.set_threshold(ALLOCATIONS)
    from olm_cli.__main__ import main as run

    run()
