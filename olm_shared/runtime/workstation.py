"""Pulling an image on a person's machine: with the credentials their container tools keep."""

import asyncio
import os
import random
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from olm_shared.image_ref import parse_ref
from olm_shared.runtime.image_store import ImageStore, PulledImage
from olm_shared.runtime.registry import PullSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Registries:
    """How to reach registries: without TLS, with CAs of a folder, with credentials of a file."""

    plain_http: bool = False
    cas_dir: Path | None = None
    auth_file: Path | None = None


def auth_files(environment: Mapping[str, str], home: Path) -> list[Path]:
    """Where logins are kept, the first that exists counts.

    The order is that of containers-auth.json(5): the file named, that of `podman login`, that of
    `docker login`.
    """
    named = environment.get("REGISTRY_AUTH_FILE")
    if named:
        return [Path(named)]
    runtime = environment.get("XDG_RUNTIME_DIR")
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    docker = Path(environment.get("DOCKER_CONFIG") or home / ".docker")
    return [
        *([Path(runtime, "containers", "auth.json")] if runtime else []),
        config / "containers" / "auth.json",
        docker / "config.json",
    ]


def login_file() -> Path | None:
    """The file of this user's logins, None when there is none."""
    return next((file for file in auth_files(os.environ, Path.home()) if file.is_file()), None)


@contextmanager
def pulled(reference: str, access: Registries) -> Iterator[PulledImage]:
    """The image on disk, until the context ends. Raises OLMError."""
    ref = parse_ref(reference)
    settings = PullSettings(
        cas_dir=access.cas_dir,
        auth_file=access.auth_file or login_file(),
        plain_http=frozenset({ref.registry} if access.plain_http else ()),
    )
    with tempfile.TemporaryDirectory(prefix="olm-image-") as work:
        store = ImageStore(Path(work), lambda: settings, jitter=random.random)
        yield asyncio.run(store.pull(reference, owner="image"))
        store.forget("image")
