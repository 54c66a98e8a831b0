"""Bundles from their images, pulled by this process, stored in ConfigMaps as upstream's Jobs do.

The ConfigMap is the record: while it is there nothing is pulled. It is next to the catalog, named
by the image, and goes with the catalog.
"""

import asyncio
import hashlib
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

from api.objects import GVK, KubeObject, annotations_of, name_of, namespace_of
from olm_classic.catalog_sources.labels import owner_reference
from olm_classic.install_plans.lookups import (
    BundleLookup,
    Patience,
    Unpacked,
    UnpackFailed,
    Unpacking,
)
from olm_classic.io.pull_logins import login_file
from olm_classic.names import FIELD_MANAGER, LABEL_MANAGED
from olm_content.bundle.config_map import filled_config_map, is_filled, read_config_map
from olm_content.bundle.files import BundleError
from olm_runtime.errors import OLMError, TerminalError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import AlreadyExistsError
from olm_runtime.registry.image_store import ImageStore
from olm_runtime.registry.settings import PullSettings
from olm_runtime.watch.store import Store

CONFIG_MAP = GVK("", "v1", "ConfigMap")
NAME_LENGTH = 63
PROMPT_SECONDS = 1.0
"""What is unpacked so soon is not said to be under way."""
UNDER_WAY_SECONDS = 0.05
"""Until it is waited for again, as long as it is prompt."""
AGAIN_SECONDS = 5.0
"""After a pull that failed."""
ANEW_SECONDS = 15.0
"""What was given up stays so, whoever asks: nothing flickers, and a mended registry counts soon."""


@dataclass(slots=True)
class _Pull:
    """A pull under way, or how the last one ended."""

    task: "asyncio.Task[tuple[KubeObject, ...]]"
    began: float
    """When the first of the pulls in a row began, on the clock of the loop."""
    ended: float = 0.0
    failed: UnpackFailed | None = None
    """Once it is given up, until it is tried anew."""


class Unpacker:
    """Unpacks bundles; each image once at a time, whoever asks."""

    def __init__(
        self,
        client: KubeClient,
        sources: Store[KubeObject],
        cache: Path,
        settings: Callable[[], Awaitable[PullSettings]],
    ) -> None:
        """`sources` are the CatalogSources; images are in `cache` while they are read."""
        self._client = client
        self._sources = sources
        self._cache = cache
        self._settings = settings
        self._pulls: dict[tuple[str, str], _Pull] = {}

    async def unpack(
        self, lookup: BundleLookup, patience: Patience
    ) -> Unpacked | Unpacking | UnpackFailed:
        """The objects of a bundle. Raises ApiError."""
        key = lookup.catalog.namespace, config_map_name(lookup.image)
        stored = await self._client.find(CONFIG_MAP, key[1], key[0])
        if stored is not None and is_filled(stored):
            self._pulls.pop(key, None)
            return unpacked(lookup, stored)
        pull = self._begin(key, lookup, patience.retry_seconds or ANEW_SECONDS)
        if pull.failed is not None:
            return pull.failed
        await asyncio.wait([pull.task], timeout=PROMPT_SECONDS)
        if not pull.task.done():
            return Unpacking(again=UNDER_WAY_SECONDS)
        try:
            objects = pull.task.result()
        except OLMError as error:
            return self._failed(pull, error, patience)
        self._pulls.pop(key, None)  # others may wait for the same image
        return Unpacked(lookup, objects, key)

    async def close(self) -> None:
        """Breaks off what is under way."""
        tasks = [pull.task for pull in self._pulls.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self, key: tuple[str, str], lookup: BundleLookup, rest_seconds: float) -> _Pull:
        now = asyncio.get_running_loop().time()
        pull = self._pulls.get(key)
        if pull is None or (pull.failed is not None and now - pull.ended > rest_seconds):
            pull = self._pulls[key] = _Pull(self._start(key, lookup), now)
        elif pull.failed is None and pull.ended and now - pull.ended > AGAIN_SECONDS:
            pull.task, pull.ended = self._start(key, lookup), 0.0
        return pull

    def _start(
        self, key: tuple[str, str], lookup: BundleLookup
    ) -> "asyncio.Task[tuple[KubeObject, ...]]":
        return asyncio.create_task(self._pull(key, lookup), name=f"unpack {lookup.image}")

    def _failed(self, pull: _Pull, error: OLMError, patience: Patience) -> Unpacking | UnpackFailed:
        now = asyncio.get_running_loop().time()
        pull.ended = pull.ended or now
        if isinstance(error, BundleError | TerminalError):
            reason = "BackoffLimitExceeded"
        elif patience.seconds and now - pull.began > patience.seconds:
            reason = "DeadlineExceeded"
        else:
            return Unpacking(error.message)
        message = f"Bundle unpacking failed - {reason}: {error.message}"
        pull.failed = patience.after(UnpackFailed("BundleUnpackFailed", message))
        return pull.failed

    async def _pull(self, key: tuple[str, str], lookup: BundleLookup) -> tuple[KubeObject, ...]:
        namespace, name = key
        files = await self._files(lookup, owner=f"{namespace}.{name}")
        source = self._sources.get(lookup.catalog.name, namespace)
        config_map = filled_config_map(empty_config_map(key, source), files, lookup.image)
        objects = read_config_map(config_map)
        try:
            await self._client.create(config_map, field_manager=FIELD_MANAGER)
        except AlreadyExistsError:
            annotations = {"annotations": annotations_of(config_map)}
            patch = {"metadata": annotations, "binaryData": config_map["binaryData"]}
            await self._client.patch(config_map, patch)
        return objects

    async def _files(self, lookup: BundleLookup, owner: str) -> dict[str, bytes]:
        """The files of a bundle, pulled with the secrets of its catalog, too."""
        catalog = lookup.catalog
        source = self._sources.get(catalog.name, catalog.namespace) or {}
        secrets = (source.get("spec") or {}).get("secrets") or ()
        settings = await self._settings()
        others = settings.auth_file
        async with login_file(self._client, catalog.namespace, secrets, others) as file:
            reached = replace(settings, auth_file=file)
            images = ImageStore(self._cache, lambda: reached, jitter=random.random)
            files = await (await images.pull(lookup.image, owner=owner)).read()
        await asyncio.to_thread(images.forget, owner)
        return files


def config_map_name(image: str) -> str:
    """Of the ConfigMap, and of all else that unpacking an image takes."""
    return hashlib.sha256(image.encode()).hexdigest()[:NAME_LENGTH]


def unpacked(lookup: BundleLookup, config_map: KubeObject) -> Unpacked | UnpackFailed:
    """The bundle that a ConfigMap holds, unless somebody spoilt it."""
    key = namespace_of(config_map), name_of(config_map)
    try:
        return Unpacked(lookup, read_config_map(config_map), key)
    except BundleError as error:
        message = f"ConfigMap {'/'.join(key)}: {error.message}; delete it to unpack the bundle anew"
        return UnpackFailed("BundleUnpackFailed", f"Bundle unpacking failed - {message}")


def empty_config_map(key: tuple[str, str], source: KubeObject | None) -> KubeObject:
    """A ConfigMap that goes with the CatalogSource; `key` are its namespace and name."""
    owners = [] if source is None else [owner_reference(source, controller=False)]
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "namespace": key[0],
            "name": key[1],
            "labels": {LABEL_MANAGED: "true"},
            "ownerReferences": owners,
        },
    }
