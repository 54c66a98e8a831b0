"""How we authenticate to a registry: a password, or a token of its token server.

Guarantees: a token server is asked over HTTPS, or as its registry is; it gets the registry's
credentials only if it is of the same site; what is withheld is logged.
"""

import asyncio
import logging
from collections.abc import Awaitable, Sequence
from typing import Protocol
from urllib.parse import urlsplit

import httpx
import orjson

from olm_runtime.errors import bounded
from olm_runtime.images.challenges import Challenge, read_challenges
from olm_runtime.images.reference import ImageRef
from olm_runtime.images.registries_conf import Source
from olm_runtime.images.registry_auth import (
    NO_CREDENTIAL,
    Credential,
    TokenRequest,
    choose,
    host_of,
    may_be_asked,
    may_get_credentials,
    token_request,
)
from olm_runtime.registry.calls import Call, address_of, once, read_bounded, wait_asked
from olm_runtime.registry.errors import RegistryError, from_answer, from_transport
from olm_runtime.registry.login_files import LoginFiles

MAX_TOKEN_BYTES = 1 << 20
PULL, PUSH = "pull", "pull,push"
"""What a token is asked for."""

log = logging.getLogger(__name__)


class Send(Protocol):
    """How a request is sent. `lax`: whatever the server's certificate."""

    def __call__(
        self, ref: ImageRef, url: str, call: Call, *, lax: bool
    ) -> Awaitable[httpx.Response]:
        """The answer, its body not yet read. Raises RegistryError."""


class Authorizer:
    """Answers challenges, for one pull or push."""

    def __init__(
        self, logins: LoginFiles, *, plain_http: frozenset[str], actions: str, send: Send
    ) -> None:
        """`actions` are what tokens are asked for."""
        self._logins = logins
        self._plain = plain_http
        self._actions = actions
        self._send = send
        self._withheld: dict[str, str] = {}
        """By registry: from whom its credentials were withheld."""

    def withheld(self, ref: ImageRef) -> RegistryError | None:
        """The error for a refusal, if what may be missing are credentials that were withheld."""
        if ref.registry not in self._withheld:
            return None
        return RegistryError(
            f'image "{ref}": registry {ref.registry} refuses access: '
            f"{self._withheld[ref.registry]}",
            hint="have the registry name a token server on its own host, or of its own site",
        )

    async def authorize(self, source: Source, challenges: Sequence[str], link: str = "") -> str:
        """The header Authorization for a registry that sent such headers WWW-Authenticate.

        `link` is a repository from which a blob is to be linked, if any. Raises RegistryError,
        TransientError.
        """
        ref = source.ref
        credential = await asyncio.to_thread(self._logins.find, ref)
        read = [challenge for header in challenges for challenge in read_challenges(header)]
        challenge = choose(read, credential)
        if challenge is None:
            raise from_answer(401, ref, ref.registry)
        if challenge.scheme == "basic":
            return f"Basic {credential.basic}"
        realm = challenge.parameters["realm"]
        address_of(ref, realm)
        plain = source.insecure or ref.registry in self._plain
        if not may_be_asked(realm, plain_http=plain):
            raise RegistryError(
                f'image "{ref}": registry {ref.registry} names a token server that is not served '
                f"over HTTPS: {bounded(realm, 200)}",
                hint="have the registry name an https:// address",
            )
        if credential and not await asyncio.to_thread(may_get_credentials, realm, ref.registry):
            credential = self._withhold(ref, urlsplit(realm).netloc)
        scopes = [f"repository:{ref.repository}:{self._actions}"] if ref.repository else []
        scopes += [f"repository:{link}:{PULL}"] if link else []
        return f"Bearer {await self._token(source, challenge, scopes, credential)}"

    def _withhold(self, ref: ImageRef, server: str) -> Credential:
        """Says so once: access may be refused for lack of the credentials."""
        reason = f"its credentials are withheld from token server {server}, another site"
        if self._withheld.get(ref.registry) != reason:
            log.warning("registry %s: %s", ref.registry, reason)
        self._withheld[ref.registry] = reason
        return NO_CREDENTIAL

    async def _token(
        self, source: Source, challenge: Challenge, scopes: Sequence[str], credential: Credential
    ) -> str:
        ref = source.ref
        asked = token_request(challenge, scopes, credential)
        server = urlsplit(asked.address)
        # What is insecure is this registry, not whatever host it names.
        lax = source.insecure and (server.hostname or "").lower() == host_of(ref.registry)
        answer = await self._send(ref, asked.address, _token_call(asked), lax=lax)
        try:
            if answer.status_code != 200:
                raise self._no_token(answer, ref, server.netloc)
            data = orjson.loads(await read_bounded(answer, MAX_TOKEN_BYTES, "token"))
            return _token(data.get("token") or data.get("access_token"))
        except (ValueError, AttributeError) as error:
            raise RegistryError(
                f'image "{ref}": token server {server.netloc} sends no token'
            ) from error
        except httpx.TransportError as error:
            raise from_transport(error, ref, server.netloc) from error
        finally:
            await answer.aclose()

    def _no_token(self, answer: httpx.Response, ref: ImageRef, server: str) -> RegistryError:
        """Most answers other than a token mean that who asks may not have one."""
        status = answer.status_code
        if status >= 500 or status == 429:
            host = f"{ref.registry}: token server {server}"
            return from_answer(status, ref, host, after=wait_asked(answer.headers))
        refused = from_answer(401, ref, ref.registry, f"token server {server} refuses")
        return self.withheld(ref) or refused


def _token_call(asked: TokenRequest) -> Call:
    if not asked.form:
        return Call(headers=asked.headers)
    length = {"Content-Length": str(len(asked.form))}
    return Call(method="POST", headers={**asked.headers, **length}, body=lambda: once(asked.form))


def _token(value: object) -> str:
    """A text that can stand in a header. Raises ValueError."""
    if not isinstance(value, str) or not (value.isascii() and value.isprintable()):
        raise ValueError("no token")
    return value
