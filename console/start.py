"""The console script. Of what it takes to serve nothing is imported to show help."""

from olm_runtime.cli.interrupts import leave_at_once


def main() -> None:
    """Reads the flags and runs the program, whose parts are imported only to run it."""
    leave_at_once()
    from console.flags import parse_settings

    settings = parse_settings()
    from console.__main__ import main as run

    run(settings)
