"""An update service and a metrics store whose answers a test says, and what they were asked."""

import json
import ssl
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from e2e.olm.daemons import HOST

NO_IMAGES: Mapping[str, str] = {}
GRAPH_PATH, QUERY_PATH, ALERTS_PATH = "/graph", "/api/v1/query", "/api/v1/alerts"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for a graph."""

    path: str
    query: str
    headers: Mapping[str, str]


class GraphServer:
    """Answers `/graph` with `graph`, and queries in PromQL with their `values`.

    status  of the answers with graphs; another than 200 has no graph
    values  by query; None for a store that fails
    alerts  of the store
    asked   the requests for graphs; `queries` those to the store, `callers` who asked it
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.graph: dict[str, Any] = {}
        self.status = HTTPStatus.OK
        self.values: dict[str, str | None] = {}
        self.alerts: list[dict[str, Any]] = []
        self.asked: list[Asked] = []
        self.queries: list[str] = []
        self.callers: list[str | None] = []
        self._scheme = "https" if tls else "http"
        self._server = ThreadingHTTPServer((HOST, 0), self._handler())
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)

    @property
    def address(self) -> str:
        """Of the server as a whole, which is that of the metrics store."""
        return f"{self._scheme}://{HOST}:{self.port}"

    @property
    def port(self) -> int:
        """Of the server."""
        return self._server.server_port

    @property
    def upstream(self) -> str:
        """What a ClusterVersion names as its update service."""
        return f"{self.address}{GRAPH_PATH}"

    def __enter__(self) -> Self:
        """Start."""
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        world = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                place = urlsplit(self.path)
                if place.path == QUERY_PATH:
                    world.callers.append(self.headers.get("Authorization"))
                    status, answer = world._value(parse_qs(place.query)["query"][0])
                elif place.path == ALERTS_PATH:
                    alerts = {"status": "success", "data": {"alerts": world.alerts}}
                    status, answer = HTTPStatus.OK, alerts
                else:
                    asked = Asked(place.path, place.query, dict(self.headers))
                    status, answer = world._graph(asked)
                body = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Requests are recorded, not printed."""

        return Handler

    def _graph(self, asked: Asked) -> tuple[HTTPStatus, Any]:
        self.asked.append(asked)
        return self.status, self.graph if self.status is HTTPStatus.OK else {}

    def _value(self, query: str) -> tuple[HTTPStatus, Any]:
        self.queries.append(query)
        value = self.values.get(query)
        if value is None:
            error = {"status": "error", "errorType": "unavailable", "error": "out of order"}
            return HTTPStatus.SERVICE_UNAVAILABLE, error
        samples = [{"metric": {}, "value": [0, value]}]
        return HTTPStatus.OK, {
            "status": "success",
            "data": {"resultType": "vector", "result": samples},
        }


def graph_of(
    versions: Sequence[str],
    edges: Sequence[tuple[str, str]] = (),
    conditional: Sequence[tuple[str, str, Sequence[Mapping[str, Any]]]] = (),
    images: Mapping[str, str] = NO_IMAGES,
) -> dict[str, Any]:
    """A graph of releases by their versions; `conditional` has the risks of each update.

    images  by version; those of others are made up
    """
    nodes = [
        {
            "version": version,
            "payload": images.get(version, f"example.com/release@sha256:{version}"),
            "metadata": {
                "url": f"https://example.com/{version}",
                "io.openshift.upgrades.graph.release.channels": "stable,fast",
            },
        }
        for version in versions
    ]
    return {
        "version": 1,
        "nodes": nodes,
        "edges": [[versions.index(start), versions.index(end)] for start, end in edges],
        "conditionalEdges": [
            {"edges": [{"from": start, "to": end}], "risks": list(risks)}
            for start, end, risks in conditional
        ],
    }


def risk(name: str, *queries: str, kind: str = "PromQL") -> dict[str, Any]:
    """A risk that applies where a query says so, or always without queries."""
    rules: list[dict[str, Any]] = [{"type": kind, "promql": {"promql": query}} for query in queries]
    return {
        "name": name,
        "message": f"{name} may happen.",
        "url": f"https://example.com/{name}",
        "matchingRules": rules or [{"type": "Always"}],
    }
