"""Asks an update service for its graph, through the cluster's proxy.

Source of the rules: upstream's notes, section 3.1.
"""

import asyncio
import ssl
from dataclasses import dataclass
from pathlib import Path

import httpx

from api.objects import GVK
from api.openshift.config.v1.kinds import PROXY
from cluster_version.updates.errors import RetrievalError
from cluster_version.updates.retrieval import MEDIA_TYPE, unexpected_status
from olm_content.formats.go_text import quote
from olm_runtime.errors import OLMError
from olm_runtime.http.proxied import http_client
from olm_runtime.http.transport_faults import reason
from olm_runtime.http.trust import registry_trust
from olm_runtime.kube.client import KubeClient
from olm_runtime.proxies import Proxies, read_cluster_proxies

PROXY_NAME = "cluster"
CONFIG_MAP = GVK("", "v1", "ConfigMap")
CA_NAMESPACE, CA_NAME, CA_KEY = "openshift-config-managed", "trusted-ca-bundle", "ca-bundle.crt"
"""The CAs that a cluster trusts; where there are some, those of the system do not count."""

SECONDS = 3600.0
MAX_BYTES = 64 << 20

_TIMEOUT = httpx.Timeout(SECONDS, connect=30.0)


@dataclass(frozen=True, slots=True)
class GraphClient:
    """Asks with what a cluster says of proxies and CAs.

    version  of the operator
    cas_dir  CAs that are trusted besides the roots of the system
    """

    client: KubeClient
    version: str
    cas_dir: Path | None = None

    async def get(self, url: str) -> bytes:
        """The body of the answer. Raises RetrievalError."""
        try:
            connection = http_client(
                _TIMEOUT, origin=await self._trust(), proxies=await self._proxies()
            )
        except OLMError as error:
            raise RetrievalError("RemoteFailed", error.message) from error
        try:
            async with asyncio.timeout(SECONDS), connection:
                return await self._get(connection, url)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            problem = f"Get {quote(url)}: {reason(error)}"
            raise RetrievalError("RemoteFailed", problem) from error
        except TimeoutError as error:
            raise RetrievalError("RemoteFailed", f"Get {quote(url)}: no answer in time") from error

    async def _get(self, connection: httpx.AsyncClient, url: str) -> bytes:
        agent = f"ClusterVersionOperator/{self.version}"
        headers = {"Accept": MEDIA_TYPE, "User-Agent": agent}
        async with connection.stream("GET", url, headers=headers, follow_redirects=True) as answer:
            if answer.status_code != httpx.codes.OK:
                raise unexpected_status(answer.status_code, answer.reason_phrase)
            body = bytearray()
            try:
                async for part in answer.aiter_bytes():
                    body += part
                    if len(body) > MAX_BYTES:
                        problem = f"the answer has more than {MAX_BYTES >> 20} MiB"
                        raise RetrievalError("ResponseFailed", problem)
            except httpx.HTTPError as error:
                raise RetrievalError("ResponseFailed", reason(error)) from error
            return bytes(body)

    async def _proxies(self) -> Proxies | None:
        """Those of the cluster, if it names any; else those of the environment."""
        found = await self.client.find(PROXY, PROXY_NAME)
        proxies = read_cluster_proxies((found or {}).get("status") or {})
        return proxies if proxies.http or proxies.https else None

    async def _trust(self) -> ssl.SSLContext:
        found = await self.client.find(CONFIG_MAP, CA_NAME, CA_NAMESPACE)
        certificates = ((found or {}).get("data") or {}).get(CA_KEY) or ""
        if not certificates:
            return registry_trust(self.cas_dir)
        try:
            return ssl.create_default_context(cadata=certificates)
        except (ssl.SSLError, ValueError) as error:
            problem = f"unable to add certificates of {CA_NAMESPACE}/{CA_NAME}: {error}"
            raise RetrievalError("RemoteFailed", problem) from error
