"""Writes how far an update is."""

import logging
from collections.abc import Sequence

from cluster_version.io.applying import FIELD_MANAGER
from cluster_version.payload.release import Release
from cluster_version.status.levels import Level, as_config_map
from olm_runtime.errors import OLMError
from olm_runtime.kube.client import KubeClient

_log = logging.getLogger(__name__)


class Progress:
    """The ConfigMap of a namespace. Nothing depends on it: what fails is logged."""

    def __init__(self, client: KubeClient, namespace: str) -> None:
        self._client = client
        self._namespace = namespace
        self._written: object = None

    async def write(self, release: Release, levels: Sequence[Level]) -> None:
        """Writes the levels of an update, unless that was written last."""
        wanted = as_config_map(self._namespace, release, levels)
        if not levels or wanted == self._written:
            return
        try:
            await self._client.apply(wanted, field_manager=FIELD_MANAGER)
        except OLMError as error:
            _log.warning("cannot write the progress of the update: %s", error.message)
        else:
            self._written = wanted
