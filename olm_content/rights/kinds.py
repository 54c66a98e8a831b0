"""Which resource serves a kind: what permissions are given for."""

from collections.abc import Iterable
from typing import NamedTuple

from api.objects import GVK, KubeObject, gvk_of, namespace_of


class Kind(NamedTuple):
    """A kind's resource, and whether its objects are in namespaces."""

    plural: str
    namespaced: bool


def guessed_kinds(objects: Iterable[KubeObject]) -> dict[GVK, Kind]:
    """The kinds of objects without a cluster to ask: plurals by the rules of English.

    The same guess as Kubernetes' own; right for every kind that a bundle may bring.
    """
    return {gvk_of(obj): Kind(_plural(obj), bool(namespace_of(obj))) for obj in objects}


def _plural(obj: KubeObject) -> str:
    singular = gvk_of(obj).kind.lower()
    if singular.endswith(("s", "x", "ch", "sh")):
        return singular + "es"
    if singular.endswith("y") and not singular.endswith(("ay", "ey", "oy", "uy")):
        return singular.removesuffix("y") + "ies"
    return singular + "s"
