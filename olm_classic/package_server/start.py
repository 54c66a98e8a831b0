"""The console script. Of what it takes to serve nothing is imported to show help."""

from olm_runtime.cli.interrupts import leave_at_once


def main() -> None:
    """Reads the flags and runs the program, whose parts are imported only to run it."""
    leave_at_once()
    from olm_classic.package_server.settings import parse_settings

    settings = parse_settings()
    from olm_classic.package_server.__main__ import main as run

    run(settings)
