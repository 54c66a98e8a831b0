"""Catalogs or extensions of a cluster in a few milliseconds, where the kubeconfig is a plain one.

The client of the programs takes longer to import than a search may take. So one request is made
here; anything unusual (exec plugins, proxies), and any answer but the list, is left to that client,
which also says what is wrong.
"""

import contextlib
import http.client
import time
from typing import Any
from urllib.parse import urlsplit

import orjson

from api.olm.v1 import names
from olm_client.reach import Reach
from olm_runtime.errors import OLMError
from olm_runtime.http import request_log
from olm_runtime.kube.cluster_access import ClusterAccess

NAMESPACES = "Namespace"
SECONDS = 10.0

_UNUSUAL = (OLMError, OSError, ValueError, LookupError, http.client.HTTPException)


def quick_list(
    reach: Reach, kind: str = names.CLUSTER_CATALOG, *, seconds: float = SECONDS
) -> list[dict[str, Any]] | None:
    """All objects of the kind; None if they cannot be had this way, or not in time."""
    try:
        access = reach.quick_access()
        return _list(access, kind, seconds) if access and not access.proxy else None
    except _UNUSUAL:
        return None


def _list(access: ClusterAccess, kind: str, seconds: float) -> list[dict[str, Any]] | None:
    url = urlsplit(access.server)
    seconds, began = min(seconds, access.request_seconds or seconds), time.monotonic()
    connection = http.client.HTTPSConnection(
        url.hostname or "", url.port or 443, context=access.tls(), timeout=seconds
    )
    with contextlib.closing(connection):
        group = "/api/v1" if kind == NAMESPACES else f"/apis/{names.API_VERSION}"
        path = f"{group}/{kind.lower()}s?limit=500"
        headers = [("Accept", "application/json"), *access.headers()]
        connection.putrequest("GET", url.path.rstrip("/") + path)
        for name, value in headers:
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        content, status = answer.read(), f"{answer.status} {answer.reason}"
        if request_log.are_written():
            took = time.monotonic() - began
            request_log.note_request(
                "GET", access.server + path, took, status, headers, answer.getheaders()
            )
        found = orjson.loads(content) if answer.status == http.client.OK else {}
    if found.get("kind") != f"{kind}List" or found["metadata"].get("continue"):
        return None
    items: list[dict[str, Any]] = found["items"]
    return items
