"""Writes a status: once per reconcile, and not at all when nothing changed."""

from collections.abc import Mapping
from typing import Any

from olm_shared.kube_object import KubeObject, metadata
from olm_shared.runtime.api_errors import NotFoundError
from olm_shared.runtime.kube import JSON_PATCH, KubeClient


async def write_status(client: KubeClient, raw: KubeObject, status: Mapping[str, Any]) -> bool:
    """Replaces the status of an object if it differs from `raw`'s; whether it was written.

    An object that is gone by now has no status to write.
    """
    if (raw.get("status") or {}) == status:
        return False
    patch = [
        # Not of another object that took the name meanwhile.
        {"op": "test", "path": "/metadata/uid", "value": metadata(raw)["uid"]},
        {"op": "add", "path": "/status", "value": status},
    ]
    try:
        await client.patch(raw, patch, subresource="status", content_type=JSON_PATCH)
    except NotFoundError:
        return False
    return True
