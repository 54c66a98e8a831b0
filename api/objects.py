"""Kubernetes objects as plain JSON, and the few questions everybody asks of them."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

KubeObject = dict[str, Any]
"""An object as the API server speaks it: apiVersion, kind, metadata and the rest."""

CRD_KIND = "CustomResourceDefinition"

TLS_CERTIFICATE, TLS_PRIVATE_KEY = "tls.crt", "tls.key"
"""In the data of a Secret of type kubernetes.io/tls."""


class GVK(NamedTuple):
    """Group, version and kind; the core group is the empty string."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        """`group/version`, or the version alone for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version


class ObjectKey(NamedTuple):
    """What identifies an object in a cluster; `namespace` is empty for cluster-scoped kinds."""

    gvk: GVK
    namespace: str
    name: str

    def __str__(self) -> str:
        """`Kind namespace/name`, as error messages name objects."""
        return f"{self.gvk.kind} {self.namespace + '/' if self.namespace else ''}{self.name}"


def gvk_of(obj: KubeObject) -> GVK:
    """Group, version and kind from `apiVersion` and `kind` (empty strings where absent)."""
    api_version, kind = str(obj.get("apiVersion") or ""), str(obj.get("kind") or "")
    # What a file says may be of any length, and is not to be remembered.
    is_short = len(api_version) + len(kind) < _LONGEST_SHARED
    return _shared_gvk(api_version, kind) if is_short else _gvk(api_version, kind)


def _gvk(api_version: str, kind: str) -> GVK:
    group, _, version = api_version.rpartition("/")
    return GVK(group, version, kind)


_LONGEST_SHARED = 512
"""Characters; names of Kubernetes are shorter."""
_shared_gvk = lru_cache(maxsize=512)(_gvk)
"""Of kinds there are few, and of what is kept by kind there may be thousands."""


def metadata(obj: KubeObject) -> dict[str, Any]:
    """The metadata map, empty if there is none; not a copy when there is."""
    return obj.get("metadata") or {}


def name_of(obj: KubeObject) -> str:
    """`metadata.name`, or the empty string."""
    return str(metadata(obj).get("name") or "")


def namespace_of(obj: KubeObject) -> str:
    """`metadata.namespace`, or the empty string."""
    return str(metadata(obj).get("namespace") or "")


def labels_of(obj: KubeObject) -> dict[str, str]:
    """`metadata.labels`, empty if there are none."""
    return metadata(obj).get("labels") or {}


def annotations_of(obj: KubeObject) -> dict[str, str]:
    """`metadata.annotations`, empty if there are none."""
    return metadata(obj).get("annotations") or {}


def finalizers_of(obj: KubeObject) -> list[str]:
    """`metadata.finalizers`, empty if there are none."""
    return metadata(obj).get("finalizers") or []


def is_deleting(obj: KubeObject) -> bool:
    """Whether the deletion of an object was asked for."""
    return bool(metadata(obj).get("deletionTimestamp"))


def key_of(obj: KubeObject) -> ObjectKey:
    """The key of an object."""
    return ObjectKey(gvk_of(obj), namespace_of(obj), name_of(obj))


def condition(obj: KubeObject, kind: str) -> dict[str, Any] | None:
    """The condition of that type in `status.conditions`, if it is there."""
    conditions: Iterable[dict[str, Any]] = (obj.get("status") or {}).get("conditions") or ()
    return next((c for c in conditions if c.get("type") == kind), None)


def is_true(obj: KubeObject, kind: str) -> bool:
    """Whether the condition of that type is there with status "True"."""
    found = condition(obj, kind)
    return found is not None and found.get("status") == "True"


def packed(value: object) -> bytes:
    """JSON that is held in memory.

    It is a copy: what orjson returns holds 4 KiB or more, however little there is in it.
    """
    return bytes(memoryview(orjson.dumps(value)))
