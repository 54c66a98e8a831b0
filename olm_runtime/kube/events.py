"""Kubernetes Events about objects: best effort, for people. What is decided is in the status."""

import logging
import time
from datetime import UTC, datetime
from typing import Any

from api.objects import KubeObject, metadata, name_of, namespace_of
from olm_runtime.event import Happening
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError

MAX_NOTE_BYTES = 1024
"""The API server refuses longer ones."""
MAX_INSTANCE_LENGTH = 128
CLUSTER_NAMESPACE = "default"
"""Where events about objects without a namespace must be."""

log = logging.getLogger(__name__)


class EventRecorder:
    """Writes events in the name of one controller; `instance` is this process."""

    def __init__(self, client: KubeClient, *, controller: str, instance: str) -> None:
        self._client = client
        self._controller = controller
        self._instance = instance[:MAX_INSTANCE_LENGTH]

    async def record(self, about: KubeObject, happening: Happening) -> None:
        """Writes one event; what the API server refuses is logged and lost."""
        event = self._event(about, happening, time.time_ns())
        try:
            await self._client.create(event, field_manager=self._controller)
        except ApiError as error:
            log.warning("no event about %s: %s", name_of(about), error)

    def _event(self, about: KubeObject, happening: Happening, now: int) -> dict[str, Any]:
        at = datetime.fromtimestamp(now // 1000 / 1e6, UTC)
        regarding = {
            "apiVersion": about.get("apiVersion"),
            "kind": about.get("kind"),
            "name": name_of(about),
            "namespace": namespace_of(about),
            "uid": metadata(about).get("uid"),
            "resourceVersion": metadata(about).get("resourceVersion"),
        }
        return {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {
                "name": f"{name_of(about)[:200].rstrip('.-')}.{now:x}",
                "namespace": namespace_of(about) or CLUSTER_NAMESPACE,
            },
            "eventTime": at.isoformat(timespec="microseconds").replace("+00:00", "Z"),
            "reportingController": self._controller,
            "reportingInstance": self._instance,
            "action": happening.action,
            "reason": happening.reason,
            "regarding": {key: value for key, value in regarding.items() if value},
            "note": happening.note.encode()[:MAX_NOTE_BYTES].decode(errors="ignore"),
            "type": "Warning" if happening.warning else "Normal",
        }
