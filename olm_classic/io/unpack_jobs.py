"""Bundles from their images by a Job each, as upstream has it: nodes pull them, with all they know.

The ConfigMap is the record, as with what this process pulls itself: while it is there nothing is
pulled, and deleting Job and ConfigMap has the bundle unpacked anew.
"""

import secrets
from collections.abc import Callable
from datetime import datetime

from api.objects import GVK, KubeObject, gvk_of, is_deleting, metadata, name_of, namespace_of
from olm_classic.install_plans.lookups import (
    BundleLookup,
    Patience,
    Unpacked,
    UnpackFailed,
    Unpacking,
)
from olm_classic.install_plans.unpack_job import (
    JOB,
    RETAINED_JOBS,
    JobSettings,
    by_age,
    failure_of,
    may_be_replaced,
    unpack_job,
    unpack_objects,
    waiting_of,
)
from olm_classic.io.unpacking import (
    CONFIG_MAP,
    config_map_name,
    empty_config_map,
    unpacked,
)
from olm_classic.names import FIELD_MANAGER, LABEL_BUNDLE_UNPACK
from olm_content.bundle.config_map import is_filled
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import AlreadyExistsError
from olm_runtime.watch.store import Store

POD = GVK("", "v1", "Pod")
LOOK_SECONDS = 2.0
"""After which a Job that runs is looked at again."""
SUFFIX_BYTES = 2


class JobUnpacker:
    """Unpacks bundles; each image by one Job at a time, whoever asks."""

    def __init__(
        self,
        client: KubeClient,
        sources: Store[KubeObject],
        settings: JobSettings,
        clock: Callable[[], datetime],
    ) -> None:
        """`sources` are the CatalogSources."""
        self._client = client
        self._sources = sources
        self._settings = settings
        self._clock = clock

    async def unpack(
        self, lookup: BundleLookup, patience: Patience
    ) -> Unpacked | Unpacking | UnpackFailed:
        """The objects of a bundle, once its Job is complete. Raises ApiError."""
        key = lookup.catalog.namespace, config_map_name(lookup.image)
        config_map = await self._client.find(CONFIG_MAP, key[1], key[0])
        if config_map is not None and is_filled(config_map):
            return unpacked(lookup, config_map)
        if config_map is None:
            config_map = await self._create(empty_config_map(key, self._source(lookup)))
        labels = f"{LABEL_BUNDLE_UNPACK}={key[1]}"
        found, _ = await self._client.list_all(JOB, key[0], labels=labels)
        jobs = by_age((each for each in found if not is_deleting(each)), config_map)
        if not jobs:
            await self._start(config_map, lookup, patience)
            return Unpacking("", LOOK_SECONDS)
        failed = failure_of(jobs[0])
        if failed is None:
            pods, _ = await self._client.list_all(POD, key[0], labels=labels)
            return Unpacking(waiting_of(pods), LOOK_SECONDS)
        if not may_be_replaced(jobs[0], self._clock(), patience.retry_seconds):
            return patience.after(failed)
        await self._start(config_map, lookup, patience, suffix=secrets.token_hex(SUFFIX_BYTES))
        for job in jobs[RETAINED_JOBS - 1 :]:
            await self._client.delete(job, uid=metadata(job)["uid"])
        return Unpacking("", LOOK_SECONDS)

    async def close(self) -> None:
        """There is nothing to end: Jobs go on."""

    async def _start(
        self, config_map: KubeObject, lookup: BundleLookup, patience: Patience, suffix: str = ""
    ) -> None:
        spec = (self._source(lookup) or {}).get("spec") or {}
        job = unpack_job(
            config_map,
            lookup.image,
            self._settings,
            suffix=suffix,
            seconds=patience.seconds,
            secrets=spec.get("secrets") or (),
        )
        for obj in unpack_objects(config_map):
            await self._client.apply(obj, field_manager=FIELD_MANAGER)
        await self._create(job)

    async def _create(self, obj: KubeObject) -> KubeObject:
        try:
            made: KubeObject = await self._client.create(obj, field_manager=FIELD_MANAGER)
        except AlreadyExistsError:  # made meanwhile for another namespace
            made = await self._client.get(gvk_of(obj), name_of(obj), namespace_of(obj))
        return made

    def _source(self, lookup: BundleLookup) -> KubeObject | None:
        return self._sources.get(lookup.catalog.name, lookup.catalog.namespace)
