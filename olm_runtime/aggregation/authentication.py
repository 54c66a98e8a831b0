"""Who asks: by the front proxy, a certificate, or a token; nobody is somebody, too."""

import asyncio
import hashlib
import logging
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from api.objects import GVK, KubeObject
from olm_runtime.aggregation.front_proxy import (
    CLIENT_CA_KEY,
    CONFIGURATION,
    NOBODY,
    BadConfigurationError,
    FrontProxy,
    Headers,
    Identity,
    authorities_in,
    bearer_token,
    common_name,
    identity_in,
    is_of,
    read_front_proxy,
)
from olm_runtime.aggregation.remembered import Remembered
from olm_runtime.kube.client import KubeClient
from olm_runtime.watch.informer import Hooks, Informer, Selection
from olm_runtime.watch.store import Store

CONFIG_MAP = GVK("", "v1", "ConfigMap")
NAMESPACE = "kube-system"
LONGEST_DELAY_SECONDS = 30.0
_MOST_CERTIFICATES = 256
AT_A_TIME = 8
"""Tokens that are asked about at once: anybody can send made-up ones."""
REFUSED_SECONDS = 5.0
"""For so long a token that is none is not asked about again."""

log = logging.getLogger(__name__)


class UnauthenticatedError(Exception):
    """Somebody who says that he is one whom he cannot prove to be."""


@dataclass(frozen=True, slots=True)
class Trust:
    """Whose certificates count: the front proxy's and callers'."""

    front_proxy: FrontProxy | None = None
    of_proxy: tuple[x509.Certificate, ...] = ()
    of_callers: tuple[x509.Certificate, ...] = ()


class Authenticator:
    """Tells who asks; follows how the API server passes requests on."""

    def __init__(
        self,
        client: KubeClient,
        *,
        front_proxy: FrontProxy | None,
        client_authorities: str | None,
        remember_seconds: float,
        clock: Callable[[], datetime],
    ) -> None:
        """What is None here is read from the cluster. Raises BadConfigurationError."""
        self._client = client
        self._given = front_proxy, client_authorities
        self._remember_seconds = remember_seconds
        self._clock = clock
        self._store: Store[KubeObject] = Store(lambda obj: obj)
        self._tokens: Remembered[Identity | None] = Remembered(lambda: clock().timestamp())
        self._certificates: dict[str, x509.Certificate] = {}
        self._contexts: list[ssl.SSLContext] = []
        self._trust = Trust()
        self._reviews = asyncio.Semaphore(AT_A_TIME)
        selection = Selection(CONFIG_MAP, NAMESPACE, fields=f"metadata.name={CONFIGURATION}")
        self._informer = Informer(
            client, selection, self._store, Hooks(self._stored, self._note, _delay)
        )
        self._take({})

    @property
    def is_ready(self) -> bool:
        """Whether it knows how requests are passed on."""
        return self._trust.front_proxy is not None

    def ask_for_certificates(self, context: ssl.SSLContext) -> None:
        """Has a server ask its clients for certificates: of today's CAs and later ones.

        A context keeps CAs that do not count any more; each request is judged by those that do.
        """
        context.verify_mode = ssl.CERT_OPTIONAL
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        context.options |= ssl.OP_NO_TICKET
        context.num_tickets = 0  # a session that is taken up again would show no certificate
        self._contexts.append(context)
        self._load(context)

    async def follow(self) -> None:
        """Follows the ConfigMap of the API server until cancelled."""
        await self._informer.run()

    def _note(self) -> None:
        if self._informer.problem:
            log.warning("cannot read ConfigMap %s: %s", CONFIGURATION, self._informer.problem)

    async def _stored(self) -> None:
        found = self._store.get(CONFIGURATION, NAMESPACE)
        try:
            self._take((found or {}).get("data") or {})
        except BadConfigurationError as error:
            log.warning("callers are known as before: %s", error.message)

    def _take(self, data: dict[str, str]) -> None:
        """Raises BadConfigurationError."""
        given, authorities = self._given
        front_proxy = given or read_front_proxy(data)
        self._trust = Trust(
            front_proxy,
            authorities_in(front_proxy.authorities if front_proxy else None),
            authorities_in(authorities or data.get(CLIENT_CA_KEY)),
        )
        for context in self._contexts:
            self._load(context)

    def _load(self, context: ssl.SSLContext) -> None:
        for each in (*self._trust.of_proxy, *self._trust.of_callers):
            context.load_verify_locations(cadata=each.public_bytes(Encoding.DER))

    async def identify(self, headers: Headers, certificate: str | None) -> Identity:
        """Who asks. Raises UnauthenticatedError, ApiError."""
        headers = list(headers)
        refused = ""
        if certificate is not None:
            try:
                identity = self._of_certificate(certificate, headers)
            except UnauthenticatedError as error:
                refused = str(error)
            else:
                if identity is not None:
                    return identity.authenticated()
        if token := bearer_token(headers):
            identity = await self._of_token(token)
            if identity is None:
                raise UnauthenticatedError("the token is none of the cluster")
            return identity.authenticated()
        if refused:
            raise UnauthenticatedError(refused)
        return NOBODY

    def _of_certificate(self, pem: str, headers: Headers) -> Identity | None:
        """Raises UnauthenticatedError; None for a front proxy that does not say who asks."""
        certificate, trust = self._parsed(pem), self._trust
        if certificate.not_valid_after_utc < self._clock():
            raise UnauthenticatedError("the certificate has ended")
        if trust.front_proxy is not None and is_of(certificate, trust.of_proxy):
            name = common_name(certificate)
            if trust.front_proxy.names and name not in trust.front_proxy.names:
                raise UnauthenticatedError(f"{name} may not pass requests on")
            return trust.front_proxy.identity(headers)
        if is_of(certificate, trust.of_callers):
            return identity_in(certificate)
        raise UnauthenticatedError("the certificate is of no CA that counts")

    def _parsed(self, pem: str) -> x509.Certificate:
        found = self._certificates.get(pem)
        if found is None:
            if len(self._certificates) >= _MOST_CERTIFICATES:
                self._certificates.clear()
            found = self._certificates[pem] = x509.load_pem_x509_certificate(pem.encode())
        return found

    async def _of_token(self, token: str) -> Identity | None:
        key = hashlib.sha256(token.encode()).hexdigest()
        return await self._tokens.get(key, lambda: self._review(token))

    async def _review(self, token: str) -> tuple[Identity | None, float]:
        review = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token},
        }
        async with self._reviews:
            status = (await self._client.create(review, field_manager=""))["status"]
        if not status.get("authenticated"):
            return None, REFUSED_SECONDS
        user = status["user"]
        extra = {name: tuple(values) for name, values in (user.get("extra") or {}).items()}
        groups = tuple(user.get("groups") or ())
        identity = Identity(
            user.get("username") or "", user.get("uid") or "", groups, tuple(sorted(extra.items()))
        )
        return identity, self._remember_seconds


def _delay(failures: int) -> float:
    return float(min(2.0**failures, LONGEST_DELAY_SECONDS))
