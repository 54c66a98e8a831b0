"""HTTP clients for servers whose CA a config map of the cluster may hold.

Source of the rules: upstream's notes, section 1.1: `ca.name` of a signature store.
"""

import ssl
from dataclasses import dataclass
from pathlib import Path

import httpx

from cluster_version.signatures.configuration import CONFIG_MAP
from olm_runtime.errors import TerminalError
from olm_runtime.http.proxied import http_client
from olm_runtime.http.trust import registry_trust
from olm_runtime.kube.client import KubeClient

NAMESPACE, KEY = "openshift-config", "ca.crt"
"""Where the CAs are that a ClusterVersion names."""

_TIMEOUT = httpx.Timeout(30.0)


@dataclass(frozen=True, slots=True)
class StoreClients:
    """Connects to servers of signatures.

    cas_dir  CAs that are trusted besides the roots of the system
    """

    client: KubeClient
    cas_dir: Path | None = None

    async def connect(self, ca: str) -> httpx.AsyncClient:
        """A client that trusts the CA of a config map as well, "" for none.

        Raises TerminalError for a CA that is none, ApiError.
        """
        trust = registry_trust(self.cas_dir)
        if ca:
            found = await self.client.get(CONFIG_MAP, ca, NAMESPACE)
            _trust(trust, ca, (found.get("data") or {}).get(KEY) or "")
        return http_client(_TIMEOUT, origin=trust)


def _trust(trust: ssl.SSLContext, name: str, certificates: str) -> None:
    try:
        trust.load_verify_locations(cadata=certificates)
    except (ssl.SSLError, ValueError) as error:
        problem = f"the config map {NAMESPACE}/{name} has no CA in PEM form under the key {KEY}"
        raise TerminalError(problem) from error
