"""Reads the objects of definitions."""

from api.objects import KubeObject, name_of
from olm_client.lifecycle.instances import Instances
from olm_rollout.remains import instances_kind
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError


async def instances_of(kube: KubeClient, obj: KubeObject) -> Instances | None:
    """The objects that go with a definition; None if the object is none."""
    kind = instances_kind(obj)
    if kind is None:
        return None
    try:
        objects, _ = await kube.list_all(kind, metadata_only=True)
    except ApiError as error:
        return Instances(name_of(obj), kind, fault=error.message)
    return Instances(name_of(obj), kind, objects)
