"""Signing in by an OpenID provider: the authorization code flow, with PKCE, state and nonce."""

import hmac
import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.responses import RedirectResponse

from console.identities import Credential
from console.provider import Provider, Tokens, error_in
from console.rendering import page
from console.signing_in import CALLBACK, PROVIDER, SIGN_IN, SignIn
from olm_runtime.errors import OLMError, TerminalError, TransientError

COOKIE = "__Host-olm-console-sign-in"
"""It comes with the way back from the provider, thus is lax where that of the session is strict."""
WAIT_SECONDS = 600
_DENIED = "The provider did not let you in"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pending:
    """A browser that was sent to the provider, and what proves that it is this one that is back."""

    about: dict[str, Any]
    host: str
    began: float
    id: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    state: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    nonce: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))

    @property
    def back(self) -> str:
        """Where the provider sends it back to."""
        return f"https://{self.host}{CALLBACK}"


@dataclass(slots=True)
class Waiting:
    """Those who are at the provider: as many as may try to sign in within WAIT_SECONDS."""

    now: Callable[[], float] = time.monotonic
    _pending: dict[str, Pending] = field(default_factory=dict)

    def add(self, about: dict[str, Any], host: str) -> Pending:
        """One more."""
        now = self.now()
        self._pending = {
            name: each for name, each in self._pending.items() if now - each.began < WAIT_SECONDS
        }
        pending = Pending(about, host, now)
        self._pending[pending.id] = pending
        return pending

    def take(self, cookie: str, state: str) -> Pending | None:
        """The one that is back, once; None for any other."""
        pending = self._pending.pop(cookie, None)
        if pending is None or self.now() - pending.began >= WAIT_SECONDS:
            return None
        return pending if hmac.compare_digest(pending.state.encode(), state.encode()) else None


def provider_routes(how: SignIn, provider: Provider, waiting: Waiting) -> APIRouter:
    """The way to the provider and back."""
    router = APIRouter()

    @router.get(PROVIDER)
    async def leave(request: Request) -> Response:
        """Sends the browser to the provider. A link: a form may lead nowhere else."""
        if not how.may_try(request):
            return how.too_many(request)
        try:
            about = await provider.about()
        except OLMError as error:
            return _failed(request, how, error)
        pending = waiting.add(about, request.headers["host"].lower())
        address = provider.address(
            about,
            back=pending.back,
            state=pending.state,
            nonce=pending.nonce,
            verifier=pending.verifier,
        )
        response = RedirectResponse(address, HTTPStatus.SEE_OTHER)
        response.set_cookie(
            COOKIE, pending.id, WAIT_SECONDS, httponly=True, samesite="lax", secure=True
        )
        return response

    @router.get(CALLBACK)
    async def back(request: Request) -> Response:
        """Begins a session for who comes back with a code."""
        asked = request.query_params
        pending = waiting.take(request.cookies.get(COOKIE, ""), asked.get("state", ""))
        if pending is None:
            fault = "This sign-in was not begun in this browser, or is over. Begin again."
            return how.again(request, fault, HTTPStatus.BAD_REQUEST)
        try:
            response = await _entered(request, how, provider, pending)
        except OLMError as error:
            response = _failed(request, how, error)
        response.delete_cookie(COOKIE, secure=True, httponly=True, samesite="lax")
        return response

    return router


async def _entered(request: Request, how: SignIn, provider: Provider, back: Pending) -> Response:
    asked = request.query_params
    if asked.get("iss", provider.issuer) != provider.issuer:  # RFC 9207
        raise TerminalError("The answer is that of another provider. Begin again.")
    if not asked.get("code"):
        raise TerminalError(f"{_DENIED}: {error_in(asked)}")
    tokens = await provider.exchange(
        back.about, code=asked["code"], back=back.back, nonce=back.nonce, verifier=back.verifier
    )
    credential = Credential(tokens.id_token)
    _follow(how, provider, back, credential, tokens)
    user = await how.by_credential(credential)
    if user is None:
        raise TerminalError(
            f"The API server does not take ID tokens of {provider.issuer} for the client"
            f" {provider.client}",
            hint="it has to be told of both: see Signing in by OIDC in the console's reference",
        )
    session = await how.begin(request, credential, user)
    # A page, for a redirect of a visit that another site began is without the session's cookie.
    response = page(request, "signed_in.html")
    how.name(response, session)
    return response


def _follow(
    how: SignIn, provider: Provider, back: Pending, credential: Credential, tokens: Tokens
) -> None:
    """Has a credential be the newest tokens."""
    credential.token = tokens.id_token
    credential.expires = how.sessions.now() + tokens.expires - provider.now()

    async def renew() -> None:
        try:
            newer = await provider.refresh(back.about, tokens)
        except TransientError as error:  # tried again, until the token has expired
            log.warning("a session is not renewed yet: %s", error.message)
        except TerminalError as error:
            log.warning("a session ends with its token: %s", error.message)
            credential.renew = None
        else:
            _follow(how, provider, back, credential, newer)

    async def revoke() -> None:
        try:
            await provider.revoke(back.about, tokens)
        except OLMError as error:  # whoever signs out does not wait for that
            log.warning("a refresh token is not revoked: %s", error.message)

    credential.renew = renew if tokens.refresh else None
    credential.revoke = revoke if tokens.refresh else None
    credential.elsewhere = provider.leaving(back.about, f"https://{back.host}{SIGN_IN}")


def _failed(request: Request, how: SignIn, error: OLMError) -> Response:
    away = isinstance(error, TransientError)
    status = HTTPStatus.BAD_GATEWAY if away else HTTPStatus.UNAUTHORIZED
    return how.again(request, error.describe(), status)
