"""An operator that serves an API: words, each of which is its own meaning.

It is the greeter's image with this program in its place. Where no certificate is mounted it is
healthy, and no more: so it stands for any operator whose image is not to be had.
"""

import json
import os
import signal
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

CERTIFICATE = Path("/apiserver.local.config/certificates/apiserver.crt")
HEALTH_PORT = 8081
API_PORT = 5443
GROUP, VERSION = "dictionary.example.com", "v1"
ROOT = f"/apis/{GROUP}/{VERSION}"
LINGER_SECONDS = 15.0
"""For which it answers after SIGTERM: the API server still calls it, until kube-proxy has been
notified by a machine that does much else."""


def answer(path: str) -> tuple[int, dict[str, Any]]:
    """What the API says: discovery, and words by their paths."""
    api_version = f"{GROUP}/{VERSION}"
    if path == ROOT:
        word = {"name": "words", "singularName": "word", "namespaced": True, "kind": "Word"}
        resources = [{**word, "verbs": ["get"]}]
        return 200, {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": api_version,
            "resources": resources,
        }
    match path.removeprefix(f"{ROOT}/").split("/"):
        case ["namespaces", namespace, "words", name]:
            named = {"name": name, "namespace": namespace}
            return 200, {
                "kind": "Word",
                "apiVersion": api_version,
                "metadata": named,
                "spec": {"meaning": name},
            }
    return 404, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404}


class Answers(BaseHTTPRequestHandler):
    """Serves the API."""

    def do_GET(self) -> None:
        status, content = answer(self.path.partition("?")[0])
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        pass


class Health(Answers):
    """Is well."""

    def do_GET(self) -> None:
        self.send_response(204)
        self.end_headers()


class ApiServer(ThreadingHTTPServer):
    """The API, over TLS; handshakes are made by the threads of requests."""

    daemon_threads = True
    request_queue_size = 128
    """The API server asks five times at once whether it is there; with five it may be refused."""

    def __init__(self) -> None:
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(CERTIFICATE, CERTIFICATE.with_suffix(".key"))
        super().__init__(("", API_PORT), Answers)

    def finish_request(self, request: Any, client_address: Any) -> None:
        with self._tls.wrap_socket(request, server_side=True) as tls:
            super().finish_request(tls, client_address)


def main() -> None:
    def stop(*_: object) -> None:
        threading.Timer(LINGER_SECONDS, os._exit, (0,)).start()

    signal.signal(signal.SIGTERM, stop)
    if CERTIFICATE.exists():
        threading.Thread(target=ApiServer().serve_forever, daemon=True).start()
    ThreadingHTTPServer(("", HEALTH_PORT), Health).serve_forever()


if __name__ == "__main__":
    main()
