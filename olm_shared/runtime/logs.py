"""How programs log."""

import logging
import sys
import time


def configure_logging(level: int) -> None:
    """One line a record on standard error; libraries speak up from warnings on."""
    logging.Formatter.converter = time.gmtime
    logging.basicConfig(
        level=logging.WARNING,
        format="%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s: %(message)s",
        datefmt="%Y-%m-%dT%H:%M:%S",
        stream=sys.stderr,
    )
    for package in ("api", "olm_shared", "catalogd", "operator_controller"):
        logging.getLogger(package).setLevel(level)
    # Says at each start that it leaves signals to us.
    logging.getLogger("kopf._core.reactor.running").setLevel(logging.ERROR)
