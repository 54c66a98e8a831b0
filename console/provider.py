"""An OpenID provider: what it says of itself, and tokens from it (OpenID Connect Core 1.0)."""

import json
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import aiohttp
from authlib.common.urls import add_params_to_uri
from authlib.oauth2.auth import ClientAuth
from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
from authlib.oauth2.rfc7636 import create_s256_code_challenge

from console.id_tokens import RefusedTokenError, verified
from olm_runtime.errors import TerminalError, TransientError, bounded

SECONDS = 10.0
MAX_BYTES = 1 << 20
_FORM = {"Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"}
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a provider gave; `expires` in seconds since 1970, `refresh` empty if there is none."""

    id_token: str
    subject: str
    expires: float
    refresh: str


@dataclass(frozen=True, slots=True)
class Provider:
    """One of them, and this console as its client.

    issuer       its name, to the letter as its tokens have it
    secret_file  with the client's secret, read each time; None for a public client
    ca_file      CAs to check it with; None: those of the system
    """

    issuer: str
    client: str
    secret_file: Path | None
    ca_file: Path | None
    scopes: tuple[str, ...]
    now: Callable[[], float] = time.time

    async def about(self) -> dict[str, Any]:
        """What it says of itself (OpenID Connect Discovery 1.0).

        Raises TransientError while it is away, TerminalError where it is another.
        """
        address = f"{self.issuer.rstrip('/')}/.well-known/openid-configuration"
        _, about = await self._ask("GET", address)
        if about.get("issuer") != self.issuer:
            issuer = bounded(str(about.get("issuer")), 200)
            raise TerminalError(
                f"{address} is of the issuer {issuer}, not of {self.issuer}",
                hint="give --oidc-issuer-url to the letter as the provider has it",
            )
        for each in _ENDPOINTS:
            if urlsplit(str(about.get(each))).scheme != "https":
                raise TerminalError(f"{address} has no {each} over https")
        return about

    def address(
        self, about: Mapping[str, Any], *, back: str, state: str, nonce: str, verifier: str
    ) -> str:
        """Where a browser is sent to sign in; `back` is where it comes back to."""
        return str(
            prepare_grant_uri(
                about["authorization_endpoint"],
                client_id=self.client,
                response_type="code",
                redirect_uri=back,
                scope=" ".join(self.scopes),
                state=state,
                nonce=nonce,
                code_challenge=create_s256_code_challenge(verifier),
                code_challenge_method="S256",
            )
        )

    async def exchange(
        self, about: Mapping[str, Any], *, code: str, back: str, nonce: str, verifier: str
    ) -> Tokens:
        """The tokens for a code. Raises TransientError, TerminalError, RefusedTokenError."""
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": back}
        answer = await self._tokens(about, {**form, "code_verifier": verifier})
        return await self._taken(about, answer, {"nonce": nonce})

    async def refresh(self, about: Mapping[str, Any], old: Tokens) -> Tokens:
        """Newer tokens of the same person. Raises as `exchange`."""
        form = {"grant_type": "refresh_token", "refresh_token": old.refresh}
        answer = await self._tokens(about, form)
        return await self._taken(about, {**form, **answer}, {"sub": old.subject})

    async def revoke(self, about: Mapping[str, Any], old: Tokens) -> None:
        """Has a refresh token count no longer (RFC 7009), where the provider lets that be done.

        Raises TransientError, TerminalError.
        """
        address = _endpoint(about, "revocation_endpoint")
        if not address or not old.refresh:
            return
        form = {"token": old.refresh, "token_type_hint": "refresh_token"}
        status, body = await self._send_form(about, address, form)
        if status != HTTPStatus.OK:
            why = bounded(body.decode(errors="replace"), 300)
            raise TerminalError(f"the provider answered {status}: {why}")

    def leaving(self, about: Mapping[str, Any], back: str) -> str:
        """Where a browser ends its session there (OpenID Connect RP-Initiated Logout 1.0).

        Empty for nowhere.
        No ID token is sent along, which the API server would take from whoever reads addresses; so
        the provider may ask whether that is meant.
        """
        address = _endpoint(about, "end_session_endpoint")
        given = {"client_id": self.client, "post_logout_redirect_uri": back}
        return str(add_params_to_uri(address, list(given.items()))) if address else ""

    async def _taken(
        self, about: Mapping[str, Any], answer: Mapping[str, Any], bound: Mapping[str, str]
    ) -> Tokens:
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise RefusedTokenError("there is none", hint="ask for the scope openid")
        _, keys = await self._ask("GET", about["jwks_uri"])
        expected = {"iss": self.issuer, "aud": self.client, **bound}
        claims = verified(token, keys, expected=expected, now=self.now())
        refresh = str(answer.get("refresh_token") or "")
        return Tokens(token, str(claims["sub"]), float(claims["exp"]), refresh)

    async def _tokens(self, about: Mapping[str, Any], form: Mapping[str, str]) -> dict[str, Any]:
        address = about["token_endpoint"]
        status, body = await self._send_form(about, address, form)
        answer = _object(address, status, body)
        if status != HTTPStatus.OK or "error" in answer:
            raise TerminalError(f"the provider gave no token: {error_in(answer)}")
        return answer

    async def _send_form(
        self, about: Mapping[str, Any], address: str, form: Mapping[str, str]
    ) -> tuple[int, bytes]:
        """The status and the body that are answered to the console as the provider's client."""
        client = ClientAuth(self.client, self._secret(), self._method(about))
        _, headers, body = client.prepare("POST", address, dict(_FORM), urlencode(form))
        return await self._send("POST", address, headers=headers, data=body)

    def _method(self, about: Mapping[str, Any]) -> str:
        if self.secret_file is None:
            return "none"
        methods = about.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        basic, post = "client_secret_basic", "client_secret_post"
        return post if post in methods and basic not in methods else basic

    def _secret(self) -> str:
        if self.secret_file is None:
            return ""
        try:
            return self.secret_file.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise TerminalError(
                f"cannot read the secret of the provider's client, {self.secret_file}: {error}"
            ) from error

    async def _ask(self, method: str, address: str) -> tuple[int, dict[str, Any]]:
        """The status and the object that is answered."""
        status, body = await self._send(method, address)
        return status, _object(address, status, body)

    async def _send(self, method: str, address: str, **how: Any) -> tuple[int, bytes]:
        """The status and the body, up to a little more than MAX_BYTES."""
        try:
            context = ssl.create_default_context(cafile=self.ca_file)
        except (OSError, ssl.SSLError) as error:
            raise TerminalError(
                f"cannot read the provider's CAs, {self.ca_file}: {error}"
            ) from error
        try:
            async with (
                aiohttp.ClientSession(
                    connector=aiohttp.TCPConnector(ssl=context),
                    timeout=aiohttp.ClientTimeout(total=SECONDS),
                    trust_env=True,
                ) as session,
                session.request(method, address, allow_redirects=False, **how) as response,
            ):
                body = b""
                async for chunk in response.content.iter_any():
                    body += chunk
                    if len(body) > MAX_BYTES:
                        break
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            why = str(error) or type(error).__name__
            raise TransientError(
                f"the provider {self.issuer} cannot be reached: {bounded(why, 300)}",
                hint="try again, or sign in by a token",
            ) from error
        return response.status, body


def _endpoint(about: Mapping[str, Any], name: str) -> str:
    """The address of what not every provider has; empty if this has it not, or not over TLS."""
    address = str(about.get(name) or "")
    return address if urlsplit(address).scheme == "https" else ""


def _object(address: str, status: int, body: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(body) if len(body) <= MAX_BYTES else None
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise TransientError(f"the provider's answer {status} at {address} is no JSON object")
    return answer


def error_in(answer: Mapping[str, Any]) -> str:
    """The error that a provider reports, bounded (RFC 6749, 5.2)."""
    words = (answer.get("error") or "it does not say why", answer.get("error_description") or "")
    return bounded(": ".join(str(each) for each in words if each), 300)
