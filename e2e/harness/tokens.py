"""A token service for the registry: answers a password with a signed permission.

The smallest service that speaks the registry token protocol, so that tests meet the same two-step
conversation as with the large public registries: refusal with a challenge, then a token from
another address.
"""

import base64
import binascii
import hmac
import json
import logging
import secrets
import ssl
import sys
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from e2e.harness.push import Credentials

KEY_ID = "olmv1-harness"
ISSUER = "olmv1-harness"
SERVICE = "olmv1-registry"
TOKEN_LIFETIME = 300
LIFETIME = {"expires_in": TOKEN_LIFETIME}
COORDINATE_BYTES = 32  # of a P-256 point or signature part
SHUTDOWN_POLL = 0.05

logger = logging.getLogger(__name__)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002 - given
        """Log instead of printing: a client that does not trust us is part of many tests."""
        logger.info("the conversation with %s failed: %r", client_address, sys.exception())


class TokenService:
    """A token service on a thread of this process."""

    def __init__(
        self, *, host: str, port: int, credentials: Credentials, anonymous_pull: bool = False
    ) -> None:
        """Describe the service: who may do everything, and whether others may pull."""
        self.host, self.port = host, port
        self._credentials = credentials
        self._anonymous_pull = anonymous_pull
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None
        self.requests: list[str] = []
        """The targets of all requests so far, in order of arrival."""
        self.identity_token = secrets.token_urlsafe()
        """What stands for the password, if it is posted (RFC 6749, section 6)."""

    def key_set(self) -> dict[str, Any]:
        """The public key by which the registry checks our tokens, as a JSON web key set."""
        numbers = self._key.public_key().public_numbers()
        key = {
            "kty": "EC",
            "crv": "P-256",
            "alg": "ES256",
            "use": "sig",
            "kid": KEY_ID,
            "x": _base64(numbers.x.to_bytes(COORDINATE_BYTES)),
            "y": _base64(numbers.y.to_bytes(COORDINATE_BYTES)),
        }
        return {"keys": [key]}

    def start(self, tls: tuple[Path, Path] | None = None) -> None:
        """Listen, with TLS if a certificate and its key are given."""
        server = _Server((self.host, self.port), self._handler())
        if tls is not None:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(*tls)
            # The handshake is left to the request's own thread: a client that says nothing must not
            # keep others waiting.
            server.socket = context.wrap_socket(
                server.socket, server_side=True, do_handshake_on_connect=False
            )
        self._server = server
        self._thread = threading.Thread(
            target=server.serve_forever, args=(SHUTDOWN_POLL,), name="token-service", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Stop listening. Idempotent."""
        if self._server is None or self._thread is None:
            return
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self._server = self._thread = None

    def answer(self, target: str, authorization: str | None) -> tuple[HTTPStatus, dict[str, Any]]:
        """Decide on one request: a token, or a refusal."""
        self.requests.append(target)
        known = authorization is not None and self._is_password(authorization)
        if not known and (authorization is not None or not self._anonymous_pull):
            return HTTPStatus.UNAUTHORIZED, {"details": "wrong or missing credentials"}
        query = parse_qs(urlsplit(target).query)
        return HTTPStatus.OK, {"token": self._token(query, known=known), **LIFETIME}

    def trade(self, target: str, body: str) -> tuple[HTTPStatus, dict[str, Any]]:
        """Decide on a request with an identity token."""
        self.requests.append(target)
        form = parse_qs(body)
        given = (form.get("grant_type"), form.get("refresh_token"))
        if given != (["refresh_token"], [self.identity_token]) or not form.get("client_id"):
            return HTTPStatus.UNAUTHORIZED, {"details": "wrong or missing identity token"}
        return HTTPStatus.OK, {"access_token": self._token(form, known=True), **LIFETIME}

    def _token(self, asked: dict[str, list[str]], *, known: bool) -> str:
        access = [
            _permission(scope, everything=known)
            for scopes in asked.get("scope", [])
            for scope in scopes.split()
        ]
        return self._sign(access, subject=self._credentials.username if known else "")

    def _is_password(self, authorization: str) -> bool:
        scheme, _, encoded = authorization.partition(" ")
        expected = f"{self._credentials.username}:{self._credentials.password}".encode()
        try:
            given = base64.b64decode(encoded, validate=True)
        except binascii.Error:
            return False
        return scheme.lower() == "basic" and hmac.compare_digest(given, expected)

    def _sign(self, access: list[dict[str, Any]], *, subject: str) -> str:
        now = int(time.time())
        header = {"typ": "JWT", "alg": "ES256", "kid": KEY_ID}
        claims = {
            "iss": ISSUER,
            "sub": subject,
            "aud": SERVICE,
            "exp": now + TOKEN_LIFETIME,
            "nbf": now - 1,
            "iat": now,
            "access": access,
        }
        signed = ".".join(_base64(json.dumps(part).encode()) for part in (header, claims))
        signature = self._key.sign(signed.encode(), ec.ECDSA(hashes.SHA256()))
        parts = [part.to_bytes(COORDINATE_BYTES) for part in decode_dss_signature(signature)]
        return f"{signed}.{_base64(b''.join(parts))}"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._reply(*service.answer(self.path, self.headers.get("authorization")))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                self._reply(*service.trade(self.path, body.decode()))

            def _reply(self, status: HTTPStatus, body: dict[str, Any]) -> None:
                content = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as in the base class
                """No log: `requests` has what came."""

        return Handler


def _permission(scope: str, *, everything: bool) -> dict[str, Any]:
    kind, _, rest = scope.partition(":")
    name, _, actions = rest.rpartition(":")
    asked = actions.split(",")
    granted = asked if everything else [action for action in asked if action == "pull"]
    return {"type": kind, "name": name, "actions": granted}


def _base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
