"""Asks the metrics store of a cluster. Source of the rules: upstream's notes, section 4.2."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from api.objects import GVK
from cluster_version.updates.query_answer import read_alerts, read_answer
from olm_runtime.errors import TransientError
from olm_runtime.http.proxied import http_client
from olm_runtime.http.transport_faults import reason
from olm_runtime.kube.client import KubeClient
from olm_runtime.proxies import Proxies

SERVICE = GVK("", "v1", "Service")
NAMESPACE, NAME, PORT = "openshift-monitoring", "thanos-querier", 9091
PATH, ALERTS_PATH = "/api/v1/query", "/api/v1/alerts"
SECONDS = 300.0

_TIMEOUT = httpx.Timeout(SECONDS, connect=30.0)
_FAILED = "executing PromQL query: "


@dataclass(frozen=True, slots=True)
class Place:
    """Where a metrics store is; its certificate is for `name`, or for its address if empty."""

    address: str
    name: str = ""


Find = Callable[[], Awaitable[Place]]
"""Where the metrics store is now. Raises OLMError."""


@dataclass(frozen=True, slots=True)
class MetricsStore:
    """A metrics store with Prometheus's API.

    ca     the file with the CAs that its certificate may be of, those of the system if there is
           none; read again each time
    token  the file with what proves who asks, if there is one; read again each time
    """

    find: Find
    ca: Path
    token: Path

    async def ask(self, query: str) -> bool:
        """Whether the query's value is 1. Raises OLMError."""
        answer = await self._get(PATH, {"query": query})
        return read_answer(answer.content, f"{answer.status_code} {answer.reason_phrase}")

    async def alerts(self) -> Sequence[dict[str, Any]]:
        """The alerts that there are, those that do not fire yet included. Raises OLMError."""
        answer = await self._get(ALERTS_PATH, {})
        return read_alerts(answer.content, f"{answer.status_code} {answer.reason_phrase}")

    async def _get(self, path: str, params: Mapping[str, str]) -> httpx.Response:
        """Raises OLMError."""
        place = await self.find()
        headers = {"Authorization": f"Bearer {token}"} if (token := self._token()) else {}
        extensions = {}
        if place.name:
            headers["Host"] = place.name
            extensions = {"sni_hostname": place.name}
        trust = self._trust()
        try:
            async with (
                asyncio.timeout(SECONDS),
                http_client(_TIMEOUT, origin=trust, proxies=Proxies()) as connection,
            ):
                return await connection.get(
                    place.address + path,
                    params=params,
                    headers=headers,
                    extensions=extensions,
                )
        except TimeoutError as error:
            raise TransientError(f"{_FAILED}no answer in time") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise TransientError(f"{_FAILED}{reason(error)}") from error

    def _token(self) -> str:
        try:
            return self.token.read_text().strip()
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise TransientError(f"{_FAILED}cannot read {self.token}: {error.strerror}") from error

    def _trust(self) -> ssl.SSLContext:
        try:
            return ssl.create_default_context(cafile=self.ca if self.ca.exists() else None)
        except (OSError, ssl.SSLError) as error:
            problem = f"cannot read certificates in {self.ca}: {error}"
            raise TransientError(f"{_FAILED}{problem}") from error


def finder(client: KubeClient, url: str) -> Find:
    """Finds the metrics store at a URL; if that is empty, that of the cluster's monitoring."""

    async def by_service() -> Place:
        found = await client.get(SERVICE, NAME, NAMESPACE)
        address = (found.get("spec") or {}).get("clusterIP") or ""
        host = f"[{address}]" if ":" in address else address
        return Place(f"https://{host}:{PORT}", f"{NAME}.{NAMESPACE}.svc.cluster.local")

    async def by_url() -> Place:
        return Place(url.rstrip("/"))

    return by_url if url else by_service
