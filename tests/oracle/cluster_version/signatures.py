"""Whether a release image is signed: family f."""

import asyncio
import base64
from collections.abc import Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import httpx

from api.objects import KubeObject
from cluster_version.io.signatures import OwnStore, Verifier
from cluster_version.names import VERIFICATION_CONFIG_MAP
from cluster_version.signatures.configuration import find_configuration
from cluster_version.signatures.errors import VerificationError
from olm_runtime.errors import TerminalError

Json = dict[str, Any]
NOW = datetime(2026, 11, 23, 15, tzinfo=UTC)
"""When the goldens were made: what is expired in them is so, and the rest is not."""


class _Stores:
    """HTTP servers that have what a case says, by host."""

    def __init__(self, served: Json) -> None:
        self._served = {host.casefold(): (host, answers) for host, answers in served.items()}
        self.requests: dict[str, list[str]] = {}

    def answer(self, request: httpx.Request) -> httpx.Response:
        """The answer to a request. Raises ConnectError for a host that is none of the case."""
        if request.url.host not in self._served:
            raise httpx.ConnectError("nobody listens there")
        host, answers = self._served[request.url.host]
        path = request.url.raw_path.decode()
        self.requests.setdefault(host, []).append(path)
        found = answers.get(urlsplit(path).path)
        if found is None:
            return httpx.Response(404)
        status = found.get("status") or HTTPStatus.OK
        return httpx.Response(status, content=base64.b64decode(found.get("body") or ""))


def verify(given: Json) -> Json:
    """Whether a digest is signed, what was asked for, and the error."""
    stores = _Stores(given.get("http") or {})
    try:
        asyncio.run(_verify(given, stores))
    except TerminalError as error:
        details = error.details if isinstance(error, VerificationError) else ""
        problem: Json = {"error": error.message, "nestedInformative": details}
    else:
        problem = {}
    requests = {host: sorted(paths) for host, paths in stores.requests.items()}
    return {"verified": not problem, "httpRequestsSorted": requests, **problem}


async def _verify(given: Json, stores: _Stores) -> None:
    annotations = {VERIFICATION_CONFIG_MAP: ""} if given.get("annotated") else {}
    manifest = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "namespace": "openshift-config-managed",
            "name": "release-verification",
            "annotations": annotations,
        },
        "data": given.get("configMapData"),
    }
    own = [OwnStore(url) for url in given.get("signatureStores") or ()]

    async def config_maps() -> Sequence[KubeObject]:
        return [
            {"metadata": {"name": each.get("name") or ""}, "binaryData": each.get("binaryData")}
            for each in given.get("configMaps") or ()
            if each.get("labeled")
        ]

    async def connect(_: str) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.MockTransport(stores.answer))

    verifier = Verifier(
        configuration=find_configuration([manifest]),
        config_maps=config_maps,
        own_stores=lambda: own if given.get("signatureStoresSet") else None,
        connect=connect,
        now=lambda: NOW,
    )
    await verifier.verify(given["digest"])


OPERATIONS = {"verify": verify}
