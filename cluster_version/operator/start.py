"""Where the console script begins: Ctrl-C is silent while the rest is imported, too."""

from olm_runtime.cli.interrupts import leave_at_once


def main() -> None:
    """Reads the flags and runs the program, whose parts are imported only to run it."""
    leave_at_once()
    from cluster_version.operator.settings import parse_settings

    settings = parse_settings()
    from cluster_version.operator.__main__ import main as run

    run(settings)
