"""Spans of OpenTelemetry, sent over HTTP where tracing is switched on.

Where it is off the SDK is not imported, and `span` gives one that does nothing. All
else is the SDK's: the variables OTEL_* say where spans go and how they are sampled.
"""

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span, Tracer

_OFF: "AbstractContextManager[Span | None]" = nullcontext()
_tracer: "Tracer | None" = None


def start_tracing(service: str, exporter: "SpanExporter | None" = None) -> None:
    """Has spans sent from now on, and the last ones at the end of the program.

    service   its name, unless OTEL_SERVICE_NAME has another
    exporter  where spans go; by default OTLP over HTTP
    """
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    if exporter is None:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        exporter = OTLPSpanExporter()
    named = {"service.name": os.environ.get("OTEL_SERVICE_NAME") or service}
    provider = TracerProvider(resource=Resource.create(named))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    global _tracer  # noqa: PLW0603 - one for the process, as the log is
    _tracer = provider.get_tracer(__name__)


def is_on() -> bool:
    """Whether spans are sent."""
    return _tracer is not None


def span(
    name: str, attributes: Mapping[str, str] | None = None
) -> "AbstractContextManager[Span | None]":
    """A span around a block, below the current one; an exception that leaves it is recorded."""
    if _tracer is None:
        return _OFF
    return _tracer.start_as_current_span(name, attributes=attributes)


def served_span(
    name: str, headers: Mapping[str, str], attributes: Mapping[str, str]
) -> "AbstractContextManager[Span | None]":
    """A span for a request, below that of who asks if its headers name one."""
    if _tracer is None:
        return _OFF
    from opentelemetry.trace import SpanKind

    return _tracer.start_as_current_span(
        name, context=_remote(headers), kind=SpanKind.SERVER, attributes=attributes
    )


def describe(attributes: Mapping[str, str]) -> None:
    """Adds attributes to the current span."""
    if _tracer is not None:
        from opentelemetry.trace import get_current_span

        get_current_span().set_attributes(dict(attributes))


def failed(found: "Span | None", message: str) -> None:
    """Notes that what a span is about failed, though nothing was raised."""
    if found is not None:
        from opentelemetry.trace import Status, StatusCode

        found.set_status(Status(StatusCode.ERROR, message))


def headers() -> dict[str, str]:
    """What makes the spans of who is asked part of the current trace (W3C traceparent)."""
    carrier: dict[str, str] = {}
    if _tracer is not None:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        TraceContextTextMapPropagator().inject(carrier)
    return carrier


def current_ids() -> dict[str, str]:
    """trace_id and span_id of the current span, in hexadecimal; empty where there is none."""
    if _tracer is None:
        return {}
    from opentelemetry.trace import format_span_id, format_trace_id, get_current_span

    found = get_current_span().get_span_context()
    if not found.is_valid:
        return {}
    return {
        "trace_id": format_trace_id(found.trace_id),
        "span_id": format_span_id(found.span_id),
    }


def _remote(headers: Mapping[str, str]) -> "Context":
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    return TraceContextTextMapPropagator().extract(headers)
