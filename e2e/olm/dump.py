"""What a cluster has: all objects of all kinds that are served, in all namespaces."""

import time
from collections.abc import Iterator, Mapping
from typing import Any

import httpx

from api.objects import GVK, KubeObject, is_deleting, name_of, namespace_of
from e2e.harness.controlplane import ControlPlane
from olm_runtime.kube.discovery import Resource, parse_groups
from olm_runtime.kube.media_types import GROUP_DISCOVERY

Dump = Mapping[str, KubeObject]
"""Objects by `group/Kind namespace/name`."""

STORED = frozenset({"list", "delete"})
"""Verbs of the kinds whose objects are stored."""
QUIET_SECONDS = 1.5
_VOLATILE = ("resourceVersion", "managedFields", "generation")


def dump(control_plane: ControlPlane) -> Dump:
    """All objects but Events, as they were written.

    Without how often and by whom, and without their status: what a controller says of an object
    changes by itself, as a Deployment without pods misses its deadline after ten minutes.
    """
    with control_plane.client() as client:
        return {
            _key(resource.gvk, obj): _content(obj)
            for resource in _stored(client)
            if resource.gvk.kind != "Event"
            for obj in _listed(client, resource)
        }


def settled_dump(control_plane: ControlPlane, *, timeout: float) -> Dump:
    """The dump when nothing changes any more, or after the timeout."""
    deadline = time.monotonic() + timeout
    before = dump(control_plane)
    while True:
        time.sleep(QUIET_SECONDS)
        after = dump(control_plane)
        settled = after == before and not any(map(is_deleting, after.values()))
        if settled or time.monotonic() > deadline:
            return after
        before = after


def differences(before: Dump, after: Dump) -> list[str]:
    """The objects that are there only in one of the two, or with another content."""
    signs = {(True, False): "-", (False, True): "+", (True, True): "~"}
    return [
        f"{signs[key in before, key in after]} {key}"
        for key in sorted(before.keys() | after.keys())
        if before.get(key) != after.get(key)
    ]


def _stored(client: httpx.Client) -> Iterator[Resource]:
    for path in ("/api", "/apis"):
        listed = client.get(path, headers={"Accept": GROUP_DISCOVERY}).raise_for_status().json()
        yield from (resource for resource, verbs in parse_groups(listed) if verbs >= STORED)


def _listed(client: httpx.Client, resource: Resource) -> list[KubeObject]:
    """All objects; none of a kind that goes just now."""
    answer = client.get(resource.path())
    if answer.status_code == httpx.codes.NOT_FOUND:
        return []
    items: list[KubeObject] = answer.raise_for_status().json()["items"]
    return items


def _key(gvk: GVK, obj: KubeObject) -> str:
    place = f"{namespace_of(obj)}/" if namespace_of(obj) else ""
    return f"{gvk.group}/{gvk.kind} {place}{name_of(obj)}"


def _content(obj: KubeObject) -> KubeObject:
    meta: dict[str, Any] = {k: v for k, v in obj["metadata"].items() if k not in _VOLATILE}
    spec = obj.get("spec") or {}
    if "renewTime" in spec:  # of a Lease
        obj = {**obj, "spec": {k: v for k, v in spec.items() if k != "renewTime"}}
    return {**{k: v for k, v in obj.items() if k != "status"}, "metadata": meta}
