"""Finds the Helm release by which upstream's controller installed an extension."""

import base64

import orjson

from api.objects import KubeObject, name_of
from olm_runtime.kube.client import KubeClient
from operator_controller.apply.helm_release import (
    Release,
    ReleaseError,
    deployed,
    parse_release,
    selector,
)
from operator_controller.io.system_secrets import SECRET


async def find_release(
    client: KubeClient, system_namespace: str, extension: str, uid: str
) -> Release | None:
    """The deployed release of an extension, if there is one. Raises ReleaseError, ApiError."""
    found, _ = await client.list_all(SECRET, system_namespace, labels=selector(extension))
    index = deployed(found, uid)
    if index is None:
        return None
    try:
        extra = orjson.loads(_data(index, "extraChunks") or b"[]")
        chunks = [await client.get(SECRET, name, system_namespace) for name in extra]
        return parse_release([_data(secret, "chunk") for secret in (index, *chunks)])
    except (ReleaseError, ValueError, TypeError) as error:
        raise ReleaseError(
            f"Secret {system_namespace}/{name_of(index)}, of the Helm release that is installed, "
            f"cannot be read: {error}",
            hint="restore it from a backup; without it what is installed is not known",
        ) from error


def _data(secret: KubeObject, key: str) -> bytes:
    return base64.b64decode((secret.get("data") or {}).get(key) or "")
