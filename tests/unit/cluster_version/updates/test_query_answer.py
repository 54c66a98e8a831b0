"""What a metrics store says to a query."""

from typing import Any

import orjson
import pytest

from cluster_version.updates.query_answer import read_answer
from olm_runtime.errors import TerminalError


def answer(kind: str, result: Any) -> bytes:
    return orjson.dumps({"status": "success", "data": {"resultType": kind, "result": result}})


def vector(*values: str) -> bytes:
    return answer("vector", [{"metric": {}, "value": [1.5, value]} for value in values])


def test_the_one_value_is_the_answer() -> None:
    assert read_answer(vector("1"), "200 OK") is True
    assert read_answer(vector("0"), "200 OK") is False
    assert read_answer(vector("1e0"), "200 OK") is True


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (answer("scalar", [1.5, "1"]), "invalid PromQL result type is scalar, not vector"),
        (vector(), "invalid PromQL result length must be one, but is 0"),
        (vector("1", "1"), "invalid PromQL result length must be one, but is 2"),
        (vector("0.5"), "invalid PromQL result (must be 0 or 1): 0.5"),
        (vector("NaN"), "invalid PromQL result (must be 0 or 1): NaN"),
        (
            b'{"status":"error","errorType":"bad_data","error":"parse error"}',
            "executing PromQL query: bad_data: parse error",
        ),
    ],
)
def test_other_answers_are_errors(body: bytes, problem: str) -> None:
    with pytest.raises(TerminalError) as raised:
        read_answer(body, "200 OK")
    assert raised.value.message == problem


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"{}", b'{"status":"success"}', b"7"])
def test_what_is_no_metrics_store_is_reported(body: bytes) -> None:
    with pytest.raises(TerminalError, match=r"executing PromQL query: the answer \(502 Bad"):
        read_answer(body, "502 Bad Gateway")
