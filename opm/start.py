"""Where the console script begins: Ctrl-C is silent while the rest is imported, too."""

from olm_runtime.cli.collection import collect_rarely
from olm_runtime.cli.ending import free_nothing
from olm_runtime.cli.interrupts import leave_at_once


def main() -> None:
    """Runs the program."""
    leave_at_once()
    free_nothing()
    collect_rarely()
    from opm.__main__ import main as run

    run()
