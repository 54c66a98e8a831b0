"""What is remembered of statuses."""

from typing import Any, cast

from api.objects import KubeObject
from olm_runtime.controller.status_writer import StatusWriter
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import NotFoundError


class Gone:
    """An API server on which the object is deleted meanwhile."""

    async def patch(self, *_: Any, **__: Any) -> KubeObject:
        raise NotFoundError("not found", status=404)


async def test_of_an_object_that_is_gone_nothing_is_remembered() -> None:
    writer = StatusWriter(cast("KubeClient", Gone()))
    obj = {
        "apiVersion": "example.com/v1",
        "kind": "Thing",
        "metadata": {"name": "it", "resourceVersion": "1"},
    }
    writer.forget(obj)  # its last event comes before the write
    assert await writer.write(obj, {"ready": True}) is None
    later = {**obj, "metadata": {"name": "it", "resourceVersion": "9"}, "status": {"ready": False}}
    assert not writer.is_of_others(later), "it is another of the same name"
