"""Credentials for the image of a catalog: the secrets that it names, over those of the program."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson

from olm_runtime.disk import disk_errors
from olm_runtime.errors import TransientError
from olm_runtime.kube.client import KubeClient
from olm_runtime.registry.pull_secrets import SECRET, registry_auths

FILE = "auth.json"


@asynccontextmanager
async def login_file(
    client: KubeClient, namespace: str, names: Sequence[str], others: Path | None
) -> AsyncIterator[Path | None]:
    """A docker configuration file with the secrets of a namespace, for as long as it is needed.

    Where several know a registry the first counts; `others` is a file that counts last. A secret
    that is not there is left out, as the kubelet has it. Raises ApiError, DiskError.
    """
    if not names:
        yield others
        return
    auths = await asyncio.to_thread(_auths_of, others) if others else {}
    for name in reversed(names):
        secret = await client.find(SECRET, name, namespace)
        auths |= registry_auths(secret or {})
    with disk_errors("keep the credentials of registries"):
        folder = await asyncio.to_thread(_write, orjson.dumps({"auths": auths}))
    with folder:
        yield Path(folder.name, FILE)


def _write(content: bytes) -> "tempfile.TemporaryDirectory[str]":
    folder = tempfile.TemporaryDirectory(prefix="catalog-logins-")  # only we may read it
    Path(folder.name, FILE).write_bytes(content)
    return folder


def _auths_of(file: Path) -> dict[str, Mapping[str, Any]]:
    try:
        found = orjson.loads(file.read_bytes())
    except OSError as error:
        raise TransientError(f"{file.name} cannot be read: {error.strerror}") from error
    return dict(found.get("auths") or {})
