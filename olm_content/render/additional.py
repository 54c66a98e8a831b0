"""The objects of a bundle that its service version does not describe."""

from collections.abc import Iterator

from api.objects import KubeObject, metadata
from olm_content.render.context import Context
from olm_content.render.kinds import NAMESPACED_KINDS


def additional_objects(context: Context) -> Iterator[KubeObject]:
    """As they are, but namespaced ones always live in the install namespace.

    Where metadata is null there is no place for a namespace, nor for a name.
    """
    for obj in context.bundle.others:
        if obj["kind"] in NAMESPACED_KINDS and obj.get("metadata", {}) is not None:
            yield {**obj, "metadata": {**metadata(obj), "namespace": context.install_namespace}}
        else:
            yield obj
