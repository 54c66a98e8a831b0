"""The events of a watch: lines of JSON, of any length. aiohttp's own reader refuses long ones."""

from typing import Any

import orjson

from olm_runtime.kube.errors import error_from


def complete_lines(pending: bytearray, part: bytes) -> list[bytearray]:
    """The lines that are complete with another part, the last one first.

    What follows them stays `pending`.
    """
    pending += part
    if b"\n" not in part:
        return []
    *lines, rest = pending.split(b"\n")
    pending[:] = rest
    return [line for line in reversed(lines) if line]


def event_of(line: bytearray) -> dict[str, Any]:
    """Raises ApiError for an error that is sent as an event, orjson.JSONDecodeError for no JSON."""
    event: dict[str, Any] = orjson.loads(line)
    if event["type"] == "ERROR":
        raise error_from(int(event["object"].get("code") or 500), orjson.dumps(event["object"]))
    return event
