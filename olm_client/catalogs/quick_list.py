"""Catalogs or extensions of a cluster in a few milliseconds, where the kubeconfig is a plain one.

The client of the programs takes longer to import than a search may take. So these are asked for
over one connection here; anything unusual (exec plugins, proxies), and any answer but the list, is
left to that client, which also says what is wrong.
"""

import time
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import orjson

from api.olm.v1 import names
from olm_client.reach import Reach
from olm_runtime.errors import OLMError
from olm_runtime.http import request_log
from olm_runtime.kube.at_once import OneConnection, connected
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.kube.exchange import UnreachableError

NAMESPACES = "Namespace"
SECONDS = 10.0

_UNUSUAL = (OLMError, OSError, ValueError, LookupError, UnreachableError)


def quick_list(
    reach: Reach, kind: str = names.CLUSTER_CATALOG, *, seconds: float = SECONDS
) -> list[dict[str, Any]] | None:
    """All objects of the kind; None if they cannot be had this way, or not in time."""
    found = quick_lists(reach, kind, seconds=seconds)
    return None if found is None else found[0]


def quick_lists(
    reach: Reach, *kinds: str, seconds: float = SECONDS
) -> list[list[dict[str, Any]]] | None:
    """All objects of each kind; None if any of them cannot be had this way, or not in time."""
    try:
        access = reach.quick_access()
        return _lists(access, kinds, seconds) if access and not access.proxy else None
    except _UNUSUAL:
        return None


def _lists(
    access: ClusterAccess, kinds: Sequence[str], seconds: float
) -> list[list[dict[str, Any]]] | None:
    found = []
    with connected(access, min(seconds, access.request_seconds or seconds)) as connection:
        for kind in kinds:
            items = _list(access, connection, kind)
            if items is None:
                return None
            found.append(items)
    return found


def _list(
    access: ClusterAccess, connection: OneConnection, kind: str
) -> list[dict[str, Any]] | None:
    group = "/api/v1" if kind == NAMESPACES else f"/apis/{names.API_VERSION}"
    url = f"{access.server}{group}/{kind.lower()}s?limit=500"
    headers, began = (("Accept", "application/json"), *access.headers()), time.monotonic()
    reply = connection.get(url, headers)
    if request_log.are_written():
        took, status = time.monotonic() - began, f"{reply.status} {reply.reason}"
        request_log.note_request("GET", url, took, status, headers, reply.headers)
    found = orjson.loads(reply.content) if reply.status == HTTPStatus.OK else {}
    if found.get("kind") != f"{kind}List" or found["metadata"].get("continue"):
        return None
    items: list[dict[str, Any]] = found["items"]
    return items
