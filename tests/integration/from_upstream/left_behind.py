"""Puts objects into a cluster exactly as upstream's controller left them in another one."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import httpx

from api.objects import KubeObject, gvk_of, metadata, name_of, namespace_of

SERVERS = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields")
"""Metadata that the API server gives."""
STATUS_KINDS = ("ClusterExtension", "ClusterObjectSet")
"""Whose status nobody but upstream wrote."""


def put(http: httpx.Client, objects: Iterable[KubeObject], *, manager: str = "test") -> None:
    """Creates objects after their owners, with the owners' uids as they are here.

    Fields belong to whom the objects say, else to `manager`.
    """
    uids: dict[str, str] = {}
    waiting = list(objects)
    while waiting:
        ready = [obj for obj in waiting if _owners(obj) <= uids.keys()]
        if not ready:
            raise ValueError(f"the owners of {name_of(waiting[0])} are not there")
        for obj in ready:
            uids[metadata(obj)["uid"]] = _put(http, obj, uids, manager)
            waiting.remove(obj)


def _owners(obj: KubeObject) -> set[str]:
    return {reference["uid"] for reference in metadata(obj).get("ownerReferences") or ()}


def _put(http: httpx.Client, obj: KubeObject, uids: dict[str, str], manager: str) -> str:
    text = json.dumps(obj)
    for there, here in uids.items():
        text = text.replace(there, here)
    left = json.loads(text)
    meta = {key: value for key, value in metadata(left).items() if key not in SERVERS}
    body = {key: value for key, value in left.items() if key != "status"} | {"metadata": meta}
    if body["kind"] == "Service":  # the addresses are the other cluster's
        spec = {key: v for key, v in body["spec"].items() if not key.startswith("clusterIP")}
        body["spec"] = spec
    created = http.post(
        path_of(left).rpartition("/")[0], json=body, params={"fieldManager": manager}
    )
    uid = str(_checked(created)["metadata"]["uid"])
    if left["kind"] in STATUS_KINDS and left.get("status"):
        merge = {"Content-Type": "application/merge-patch+json"}
        status = {"status": left["status"]}
        _checked(http.patch(f"{path_of(left)}/status", json=status, headers=merge))
    if metadata(left).get("managedFields"):
        note_managers(http, left, metadata(left)["managedFields"])
    return uid


def note_managers(http: httpx.Client, obj: KubeObject, entries: Sequence[dict[str, Any]]) -> None:
    """Has the API server believe that these managers set the fields of an object."""
    patch = [{"op": "replace", "path": "/metadata/managedFields", "value": entries}]
    headers = {"Content-Type": "application/json-patch+json"}
    _checked(http.patch(path_of(obj), json=patch, headers=headers))


def path_of(obj: KubeObject) -> str:
    """The path of an object in the API."""
    gvk = gvk_of(obj)
    home = f"/apis/{gvk.api_version}" if gvk.group else f"/api/{gvk.version}"
    space = f"/namespaces/{namespace_of(obj)}" if namespace_of(obj) else ""
    return f"{home}{space}/{gvk.kind.lower()}s/{name_of(obj)}"


def _checked(answer: httpx.Response) -> dict[str, Any]:
    if answer.is_error:
        raise ValueError(f"{answer.request.method} {answer.request.url}: {answer.text}")
    found: dict[str, Any] = answer.json()
    return found
