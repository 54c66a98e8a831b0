"""Spans of an install, as an OTLP receiver gets them, and the log with the same ids."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from e2e.harness.controlplane import wait_until
from e2e.olm.api import Api, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.manifests import with_administrator
from e2e.olm.programs import Olm

pytestmark = pytest.mark.integration

FLAGS = ("--tracing", "--logging-format=json", "-v=4")
CONTROLLER, CATALOGD = "operator-controller", "catalogd"


@dataclass(frozen=True)
class Span:
    service: str
    name: str
    trace: str
    id: str
    parent: str
    attributes: dict[str, str]
    failed: bool
    errors: list[str]


@dataclass
class Receiver:
    """An OTLP receiver over HTTP that keeps all spans."""

    spans: list[Span] = field(default_factory=list)

    def receive(self, body: bytes) -> None:
        request = ExportTraceServiceRequest.FromString(body)
        for resource in request.resource_spans:
            about = {a.key: a.value.string_value for a in resource.resource.attributes}
            for scope in resource.scope_spans:
                for each in scope.spans:
                    found = Span(
                        about["service.name"],
                        each.name,
                        each.trace_id.hex(),
                        each.span_id.hex(),
                        each.parent_span_id.hex(),
                        {a.key: a.value.string_value for a in each.attributes},
                        each.status.code == each.status.STATUS_CODE_ERROR,
                        [event.name for event in each.events],
                    )
                    self.spans.append(found)

    def find(self, service: str, name: str, **attributes: str) -> list[Span]:
        wanted = {f"olm.{key}": value for key, value in attributes.items()}.items()
        return [
            span
            for span in list(self.spans)
            if (span.service, span.name) == (service, name) and wanted <= span.attributes.items()
        ]

    def wait(self, service: str, name: str, **attributes: str) -> Span:
        what = f"span {service}: {name} {attributes}"
        wait_until(lambda: bool(self.find(service, name, **attributes)), what=what)
        return self.find(service, name, **attributes)[0]

    def ancestors(self, span: Span) -> list[tuple[str, str]]:
        """Services and names from the parent of a span to the root of its trace."""
        known = {each.id: each for each in list(self.spans)}
        found = []
        while span.parent:
            wait_until(lambda: any(s.id == span.parent for s in self.spans), what="a parent")  # noqa: B023
            known |= {each.id: each for each in list(self.spans)}
            span = known[span.parent]
            found.append((span.service, span.name))
        return found


@pytest.fixture
def receiver() -> Iterator[tuple[Receiver, str]]:
    """A receiver, and its address."""
    collector = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            collector.receive(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.end_headers()
            self.wfile.write(ExportTraceServiceResponse().SerializeToString())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield collector, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def traced(olm: Olm, receiver: tuple[Receiver, str]) -> Iterator[Receiver]:
    """Both programs with tracing, for one test."""
    collector, address = receiver
    olm.stop()
    olm.environment = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": address,
        "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
        "OTEL_BSP_SCHEDULE_DELAY": "200",
    }
    olm.start_catalogd(*FLAGS)
    olm.start_operator_controller(*FLAGS)
    yield collector
    olm.stop()
    olm.environment = {}
    olm.start_catalogd()
    olm.start_operator_controller()


def log_of(olm: Olm, service: str) -> list[dict[str, str]]:
    """The lines of a program's log since tracing began."""
    path: Path = olm.work_dir / "logs" / f"{service}.log"
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def test_an_install_is_one_tree_from_the_spec_to_the_objects(
    traced: Receiver,
    olm: Olm,
    api: Api,
    package: str,
    publish_catalog: Callable[..., str],
    serve_catalog: Callable[[str, str], None],
) -> None:
    reconcile = CONTROLLER, "reconcile cluster-extension"
    olm.control_plane.apply(with_administrator(package, "1.0.0"))
    failed = traced.wait(CONTROLLER, "resolve", extension=package)
    assert failed.failed
    assert failed.errors == ["exception"]

    serve_catalog(package, publish_catalog(BundleSpec(package=package, version="1.0.0")))
    api.wait_installed(package, "1.0.0")
    known = {"extension": package, "bundle": f"{package}.v1.0.0", "version": "1.0.0"}
    revise = traced.wait(CONTROLLER, "revise", **known, revision=f"{package}-1")
    for step in ("read_revisions", "resolve", "render", "preflight", "revise"):
        same = [s for s in traced.find(CONTROLLER, step) if s.trace == revise.trace]
        assert [traced.ancestors(each) for each in same] == [[reconcile]], step
    [pull] = [s for s in traced.find(CONTROLLER, "pull") if s.trace == revise.trace]
    assert traced.ancestors(pull) == [(CONTROLLER, "render"), reconcile]
    roll_out = traced.wait(CONTROLLER, "roll_out", **known, revision=f"{package}-1")
    apply = [
        span
        for span in traced.find(CONTROLLER, "apply")
        if (CONTROLLER, "reconcile clusterobjectset") in traced.ancestors(span)
    ]
    assert apply
    assert traced.ancestors(roll_out) == [(CONTROLLER, "reconcile clusterobjectset")]

    served = traced.wait(CATALOGD, "serve")
    assert traced.ancestors(served)[0] == (CONTROLLER, "ask catalog")
    unpack = traced.wait(CATALOGD, "unpack")
    assert traced.ancestors(unpack) == [
        (CATALOGD, "ingest"),
        (CATALOGD, "reconcile catalogd-clustercatalog-controller"),
    ]

    made = [line for line in log_of(olm, CONTROLLER) if "is to be installed" in line["msg"]]
    [line] = [line for line in made if package in line["msg"]]
    assert (line["trace_id"], line["span_id"]) == (revise.trace, revise.id)
    retried = [line for line in log_of(olm, CONTROLLER) if "next try in" in line["msg"]]
    assert failed.trace in {line["trace_id"] for line in retried if package in line["msg"]}
    olm.control_plane.remove(extension_path(package))
    api.wait_gone(extension_path(package))
