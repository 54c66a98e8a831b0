"""The greeter: makes a ConfigMap of each Greeting, and serves webhooks for Greetings.

A Greeting of version v1 has `spec.name`; in v2 the same is called `spec.who`. The mutating webhook
fills in the world, the validating one refuses nobody. A finalizer keeps each Greeting until this
program has seen it go. Needs Python alone, so that its image does not need the network to be built.
"""

import base64
import json
import os
import signal
import ssl
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
CERTIFICATES = Path("/tmp/k8s-webhook-server/serving-certs")
GREETINGS = "/apis/greeter.example.com/v1/greetings"
FINALIZER = "greeter.example.com/farewell"
VERSION = os.environ.get("GREETER_VERSION", "unknown")
WORDS = os.environ.get("GREETER_WORDS", "Hello")
HEALTH_PORT = 8081
WEBHOOK_PORT = 9443
WATCH_SECONDS = 5
"""Seconds between resyncs: during an update the version before may write last."""
RETRY_SECONDS = 1.0
LINGER_SECONDS = 5.0
"""Seconds for which webhooks are answered after SIGTERM: the API server still calls them."""

Json = dict[str, Any]


class Cluster:
    """The API server, as the pod's service account."""

    def __init__(self) -> None:
        host = os.environ["KUBERNETES_SERVICE_HOST"]
        self._url = f"https://{host}:{os.environ['KUBERNETES_SERVICE_PORT']}"
        self._trust = ssl.create_default_context(cafile=str(ACCOUNT / "ca.crt"))

    def get(self, path: str) -> Json:
        with self._ask("GET", path) as answer:
            found: Json = json.load(answer)
            return found

    def apply(self, path: str, obj: Json) -> None:
        """Server-side apply."""
        path = f"{path}?fieldManager=greeter&force=true"
        self._ask("PATCH", path, obj, "application/apply-patch+yaml").close()

    def watch(self, path: str, since: str) -> Iterator[Json]:
        query = f"watch=true&resourceVersion={since}&timeoutSeconds={WATCH_SECONDS}"
        with self._ask("GET", f"{path}?{query}") as answer:
            for line in answer:
                yield json.loads(line)

    def _ask(self, method: str, path: str, body: Json | None = None, kind: str = "") -> Any:
        token = (ACCOUNT / "token").read_text()
        headers = {"Authorization": f"Bearer {token}"} | ({"Content-Type": kind} if kind else {})
        content = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self._url + path, content, headers, method=method)
        return urllib.request.urlopen(request, context=self._trust, timeout=WATCH_SECONDS + 10)


class Operator:
    """Lists and watches Greetings, for ever."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.ready = False
        self.stopped = False

    def run(self) -> None:
        while not self.stopped:
            try:
                self._follow()
            except (urllib.error.URLError, OSError, ValueError) as error:
                print(f"trying again: {error}", file=sys.stderr, flush=True)
                time.sleep(RETRY_SECONDS)

    def _follow(self) -> None:
        listed = self._cluster.get(GREETINGS)
        self.ready = True  # first: what is written next has to pass the webhooks of a ready pod
        for greeting in listed["items"]:
            self._reconcile(greeting)
        for event in self._cluster.watch(GREETINGS, listed["metadata"]["resourceVersion"]):
            if event["type"] == "ERROR":
                raise ValueError(event["object"].get("message", "the watch ended"))
            if event["type"] != "DELETED":
                self._reconcile(event["object"])

    def _reconcile(self, greeting: Json) -> None:
        if self.stopped:
            return
        metadata = greeting["metadata"]
        going = "deletionTimestamp" in metadata
        if going == (FINALIZER in metadata.get("finalizers", ())):
            self._hold(greeting, [] if going else [FINALIZER])
        if going:
            return  # the garbage collector takes the ConfigMap
        name, namespace = metadata["name"], metadata["namespace"]
        owner = {
            "apiVersion": "greeter.example.com/v1",
            "kind": "Greeting",
            "name": name,
            "uid": metadata["uid"],
            "controller": True,
        }
        said = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": namespace, "ownerReferences": [owner]},
            "data": {"text": f"{WORDS}, {greeting['spec']['name']}!", "version": VERSION},
        }
        self._cluster.apply(f"/api/v1/namespaces/{namespace}/configmaps/{name}", said)
        self._write_status(greeting, name)

    def _write_status(self, greeting: Json, name: str) -> None:
        status = {"configMap": name, "version": VERSION}
        if greeting.get("status") != status:
            self._write(greeting, {"status": status}, "/status")

    def _hold(self, greeting: Json, finalizers: list[str]) -> None:
        self._write(greeting, {"metadata": {"finalizers": finalizers}})

    def _write(self, greeting: Json, fields: Json, subresource: str = "") -> None:
        # By its uid: one that is gone meanwhile is not made again.
        known = {key: greeting["metadata"][key] for key in ("name", "namespace", "uid")}
        written = {
            "apiVersion": "greeter.example.com/v1",
            "kind": "Greeting",
            **fields,
            "metadata": known | fields.get("metadata", {}),
        }
        place = f"/apis/greeter.example.com/v1/namespaces/{known['namespace']}/greetings"
        self._cluster.apply(f"{place}/{known['name']}{subresource}", written)


def mutate(request: Json) -> Json:
    spec = request["object"].get("spec") or {}
    key = "who" if request["object"]["apiVersion"].endswith("/v2") else "name"
    if key in spec:
        return {"allowed": True}
    patch = [{"op": "add", "path": "/spec", "value": {**spec, key: "world"}}]
    encoded = base64.b64encode(json.dumps(patch).encode()).decode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": encoded}


def validate(request: Json) -> Json:
    if "nobody" in (request["object"].get("spec") or {}).values():
        return {"allowed": False, "status": {"message": "nobody is not there to be greeted"}}
    return {"allowed": True}


def convert(request: Json) -> Json:
    desired = request["desiredAPIVersion"]
    new, old = ("who", "name") if desired.endswith("/v2") else ("name", "who")
    converted = [
        {
            **obj,
            "apiVersion": desired,
            "spec": {new if key == old else key: value for key, value in obj["spec"].items()},
        }
        for obj in request["objects"]
    ]
    return {"convertedObjects": converted, "result": {"status": "Success"}}


ANSWERS = {"/mutate": mutate, "/validate": validate, "/convert": convert}


class Reviews(BaseHTTPRequestHandler):
    """Answers admission and conversion reviews."""

    def do_POST(self) -> None:
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = ANSWERS[self.path.partition("?")[0]](review["request"])
        response = {"uid": review["request"]["uid"], **answer}
        _send(
            self,
            200,
            {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response},
        )

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        pass


class WebhookServer(ThreadingHTTPServer):
    """Serves with the certificate that is mounted now: who issued it may exchange it."""

    daemon_threads = True

    def __init__(self) -> None:
        self._seen = 0
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        super().__init__(("", WEBHOOK_PORT), Reviews)

    def get_request(self) -> tuple[Any, Any]:
        accepted = super().get_request()
        changed = (CERTIFICATES / "tls.crt").stat().st_mtime_ns
        if changed != self._seen:
            renewed = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            renewed.load_cert_chain(CERTIFICATES / "tls.crt", CERTIFICATES / "tls.key")
            self._tls, self._seen = renewed, changed
        return accepted

    def finish_request(self, request: Any, client_address: Any) -> None:
        with self._tls.wrap_socket(request, server_side=True) as tls:
            super().finish_request(tls, client_address)


def health_server(operator: Operator) -> ThreadingHTTPServer:
    """/healthz and /readyz, over HTTP."""

    class Health(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            well = self.path == "/healthz" or operator.ready
            _send(self, 200 if well else 503, {"ready": operator.ready, "version": VERSION})

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as above
            pass

    return ThreadingHTTPServer(("", HEALTH_PORT), Health)


def _send(handler: BaseHTTPRequestHandler, status: int, content: Json) -> None:
    body = json.dumps(content).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def main() -> None:
    operator = Operator(Cluster())

    def stop(*_: object) -> None:
        operator.stopped = True
        threading.Timer(LINGER_SECONDS, os._exit, (0,)).start()

    signal.signal(signal.SIGTERM, stop)
    for run in (operator.run, WebhookServer().serve_forever):
        threading.Thread(target=run, daemon=True).start()
    print(f"greeter {VERSION} is running", flush=True)
    health_server(operator).serve_forever()


if __name__ == "__main__":
    main()
