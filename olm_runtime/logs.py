"""How programs log."""

import json
import logging
import sys
import time
from enum import StrEnum

from olm_runtime.tracing import current_ids

TIME = "%Y-%m-%dT%H:%M:%S"


class LogFormat(StrEnum):
    """How a line of the log looks."""

    TEXT = "text"
    JSON = "json"


class JsonFormatter(logging.Formatter):
    """A JSON object a line, with the ids of the span in which it was written."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record."""
        line = {
            "ts": f"{self.formatTime(record, TIME)}.{record.msecs:03.0f}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "msg": record.getMessage(),
            **current_ids(),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def configure_logging(level: int, form: LogFormat = LogFormat.TEXT) -> None:
    """One line a record on standard error; of libraries only warnings and errors."""
    logging.Formatter.converter = time.gmtime
    logging.basicConfig(
        level=logging.WARNING,
        format="%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s: %(message)s",
        datefmt=TIME,
        stream=sys.stderr,
    )
    if form is LogFormat.JSON:
        for handler in logging.getLogger().handlers:
            handler.setFormatter(JsonFormatter())
    for package in (
        "api",
        "olm_runtime",
        "olm_content",
        "olm_catalogs",
        "olm_rollout",
        "catalogd",
        "operator_controller",
        "olm_classic",
        "cluster_version",
    ):
        logging.getLogger(package).setLevel(level)
    # It says at each start that it leaves signals to us, and logs whole traces of what ends it,
    # which the watcher says in a line.
    for module in ("running", "orchestration"):
        logging.getLogger(f"kopf._core.reactor.{module}").setLevel(logging.CRITICAL)
