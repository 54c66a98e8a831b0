"""Catalogs or extensions of a cluster in a few milliseconds, where the kubeconfig is a plain one.

The client of the programs takes longer to import than a search may take. So one request is made
here; anything unusual (exec plugins, proxies), and any answer but the list, is left to that client,
which also says what is wrong.
"""

import contextlib
import http.client
from typing import Any
from urllib.parse import urlsplit

import orjson

from olm_runtime.errors import OLMError
from olm_runtime.kube.access import ClusterAccess, quick_access

CATALOGS, EXTENSIONS = "ClusterCatalog", "ClusterExtension"
SECONDS = 10.0

_UNUSUAL = (OLMError, OSError, ValueError, LookupError, http.client.HTTPException)


def quick_list(
    kubeconfig: str | None, kind: str = CATALOGS, *, seconds: float = SECONDS
) -> list[dict[str, Any]] | None:
    """All objects of the kind; None if they cannot be had this way, or not in time."""
    try:
        access = quick_access(kubeconfig)
        return _list(access, kind, seconds) if access and not access.proxy else None
    except _UNUSUAL:
        return None


def _list(access: ClusterAccess, kind: str, seconds: float) -> list[dict[str, Any]] | None:
    url = urlsplit(access.server)
    connection = http.client.HTTPSConnection(
        url.hostname or "", url.port or 443, context=access.tls(), timeout=seconds
    )
    with contextlib.closing(connection):
        authorization = access.authorization()
        headers = {"Accept": "application/json"}
        headers |= {"Authorization": authorization} if authorization else {}
        path = f"/apis/olm.operatorframework.io/v1/{kind.lower()}s?limit=500"
        connection.request("GET", url.path.rstrip("/") + path, headers=headers)
        answer = connection.getresponse()
        found = orjson.loads(answer.read()) if answer.status == http.client.OK else {}
    if found.get("kind") != f"{kind}List" or found["metadata"].get("continue"):
        return None
    items: list[dict[str, Any]] = found["items"]
    return items
