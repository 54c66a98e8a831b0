"""How programs log."""

import logging
import sys
import time


def configure_logging(level: int) -> None:
    """One line a record on standard error; of libraries only warnings and errors."""
    logging.Formatter.converter = time.gmtime
    logging.basicConfig(
        level=logging.WARNING,
        format="%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s: %(message)s",
        datefmt="%Y-%m-%dT%H:%M:%S",
        stream=sys.stderr,
    )
    for package in (
        "api",
        "olm_runtime",
        "olm_content",
        "olm_rollout",
        "catalogd",
        "operator_controller",
    ):
        logging.getLogger(package).setLevel(level)
    # It says at each start that it leaves signals to us, and tells whole traces of what ends it,
    # which the watcher says in a line.
    for module in ("running", "orchestration"):
        logging.getLogger(f"kopf._core.reactor.{module}").setLevel(logging.CRITICAL)
