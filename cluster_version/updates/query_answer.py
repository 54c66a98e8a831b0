"""What a metrics store says: whether a cluster is exposed to a risk, and its alerts. Pure.

Source of the rules: upstream's notes, section 4.2.
"""

from typing import Any

import orjson

from olm_runtime.errors import TerminalError

_VALUES = {0.0: False, 1.0: True}


def read_answer(body: bytes, status: str) -> bool:
    """Whether the one sample of an answer is 1. `status` is that of HTTP.

    Raises TerminalError for what is no such answer.
    """
    try:
        answer = orjson.loads(body)
        if answer["status"] != "success":
            problem = f"{answer['errorType']}: {answer['error']}"
            raise TerminalError(f"executing PromQL query: {problem}")
        return _value(answer["data"])
    except (orjson.JSONDecodeError, LookupError, TypeError, ValueError) as error:
        problem = f"the answer ({status}) is none of a metrics store"
        raise TerminalError(f"executing PromQL query: {problem}") from error


def read_alerts(body: bytes, status: str) -> list[dict[str, Any]]:
    """The alerts of an answer. `status` is that of HTTP.

    Raises TerminalError for what is no such answer.
    """
    try:
        answer = orjson.loads(body)
        if answer["status"] != "success":
            raise TerminalError(f"asking for alerts: {answer['errorType']}: {answer['error']}")
        return [dict(each) for each in answer["data"]["alerts"]]
    except (orjson.JSONDecodeError, LookupError, TypeError, ValueError) as error:
        problem = f"the answer ({status}) is none of a metrics store"
        raise TerminalError(f"asking for alerts: {problem}") from error


def _value(data: Any) -> bool:
    kind, found = data["resultType"], data["result"]
    if kind != "vector":
        raise TerminalError(f"invalid PromQL result type is {kind}, not vector")
    if len(found) != 1:
        raise TerminalError(f"invalid PromQL result length must be one, but is {len(found)}")
    _, value = found[0]["value"]
    if float(value) not in _VALUES:
        raise TerminalError(f"invalid PromQL result (must be 0 or 1): {value}")
    return _VALUES[float(value)]
