"""Tracing costs nothing while it is off; the log names the span in which it was written."""

import json
import logging
import subprocess
import sys

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from olm_runtime import tracing
from olm_runtime.logs import JsonFormatter


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    monkeypatch.setattr(tracing, "_tracer", None)
    in_memory = InMemorySpanExporter()
    tracing.start_tracing("a-program", in_memory)
    return in_memory


def line(message: str, error: BaseException | None = None) -> dict[str, str]:
    info = (type(error), error, None) if error else None
    record = logging.LogRecord("a.b", logging.WARNING, "f", 1, message, ("x",), info)
    found: dict[str, str] = json.loads(JsonFormatter().format(record))
    return found


@pytest.mark.parametrize("program", ["catalogd", "operator_controller"])
def test_the_sdk_is_not_imported_while_it_is_off(program: str) -> None:
    """FastAPI imports the API, which is small."""
    parts = "opentelemetry.sdk", "opentelemetry.exporter", "opentelemetry.proto"
    code = f"import {program}.__main__, sys; print([m for m in {parts} if m in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_while_it_is_off_a_span_does_nothing() -> None:
    with tracing.span("a") as found:
        tracing.describe({"b": "c"})
        tracing.failed(found, "message")
    assert (found, tracing.headers(), tracing.current_ids()) == (None, {}, {})


def test_a_span_of_a_request_is_below_that_of_who_asks(exporter: InMemorySpanExporter) -> None:
    with tracing.span("ask", {"olm.catalog": "a"}):
        asked, inside = tracing.headers(), line("said %s")
    with tracing.served_span("serve", asked, {}) as found:
        tracing.failed(found, "no")
    assert tracing.is_on()
    ids = f"00-{inside['trace_id']}-{inside['span_id']}-"
    assert asked["traceparent"].startswith(ids)
    assert line("said %s").keys() == {"ts", "level", "logger", "msg"}


def test_a_line_of_the_log_as_json() -> None:
    found = line("said %s", ValueError("why"))
    assert found.pop("ts").endswith("Z")
    assert found == {
        "level": "warning",
        "logger": "a.b",
        "msg": "said x",
        "error": "ValueError: why",
    }
