"""A webhook server as an operator would bring it, for clusters that cannot run the operator.

`python -m e2e.olm.webhook_server PORT PEM LOG` answers admission and conversion reviews over
HTTPS on loopback with the certificate and key in the file PEM, which it reads anew when it
changes. Every connection is closed after its answer, so every request is a handshake. LOG gets a
line with the serial number of each certificate that it begins to serve with.

Things have `spec.x` in version v1, which in v2 is called `spec.z`. Mutation sets `spec.mutated`;
validation refuses `spec.x: forbidden`.
"""

import base64
import json
import ssl
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography import x509

Review = dict[str, Any]


def mutate(_: Review) -> Review:
    patch = [{"op": "add", "path": "/spec/mutated", "value": "yes"}]
    encoded = base64.b64encode(json.dumps(patch).encode()).decode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": encoded}


def validate(request: Review) -> Review:
    if request["object"]["spec"].get("x") == "forbidden":
        return {"allowed": False, "status": {"message": "x is forbidden"}}
    return {"allowed": True}


def convert(request: Review) -> Review:
    desired = request["desiredAPIVersion"]
    objects = [_converted(obj, desired) for obj in request["objects"]]
    return {"convertedObjects": objects, "result": {"status": "Success"}}


def _converted(obj: Review, api_version: str) -> Review:
    new, old = ("z", "x") if api_version.endswith("/v2") else ("x", "z")
    spec = {new if key == old else key: value for key, value in obj["spec"].items()}
    return {**obj, "apiVersion": api_version, "spec": spec}


ANSWERS: dict[str, Callable[[Review], Review]] = {
    "/mutate": mutate,
    "/validate": validate,
    "/convert": convert,
}


class Handler(BaseHTTPRequestHandler):
    """Answers reviews."""

    def do_POST(self) -> None:
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        request = review["request"]
        answer = {"uid": request["uid"], **ANSWERS[self.path.partition("?")[0]](request)}
        body = json.dumps(
            {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": answer}
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        pass


class Server(ThreadingHTTPServer):
    """Serves with what is in the file now."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, pem: Path, log: Path) -> None:
        self._pem, self._log = pem, log
        self._seen = 0
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        super().__init__(("127.0.0.1", port), Handler)

    def finish_request(self, request: Any, client_address: Any) -> None:
        with self._context.wrap_socket(request, server_side=True) as tls:
            super().finish_request(tls, client_address)

    def get_request(self) -> tuple[Any, Any]:
        accepted = super().get_request()
        changed = self._pem.stat().st_mtime_ns
        if changed != self._seen:
            self._seen = changed
            self._reload()
        return accepted

    def _reload(self) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._pem)
        self._context = context
        serial = x509.load_pem_x509_certificate(self._pem.read_bytes()).serial_number
        with self._log.open("a") as log:
            log.write(f"{serial:x}\n")


if __name__ == "__main__":
    Server(int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])).serve_forever()
