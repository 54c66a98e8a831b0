"""The content of a revision as immutable Secrets, so that no revision is too large for etcd.

Layout as upstream's: each object is JSON under a key that is its own digest, so equal objects
are stored once and a changed object can never hide behind an old key. A phase of more objects than
the API allows is stored as `v1` Lists of objects, which stand for their items.
"""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from api.objects import KubeObject, labels_of
from api.olm.v1 import names
from olm_rollout.phases import Phase
from operator_controller.apply.stored import MAX_SECRET_BYTES, content_key, encode

MAX_ENTRIES = 50
"""Objects of a phase: a limit of the ClusterObjectSet API."""


class Packed(NamedTuple):
    """`phases` as in `spec.phases` of a ClusterObjectSet, and the Secrets they refer to."""

    phases: tuple[dict[str, Any], ...]
    secrets: tuple[KubeObject, ...]


def sanitised(obj: KubeObject) -> KubeObject:
    """What of an object is ours to apply: no status, no metadata that the server owns."""
    meta = obj.get("metadata") or {}
    stored = {
        key: meta[key] for key in ("name", "namespace", "labels", "annotations") if meta.get(key)
    }
    annotations = dict(stored.get("annotations") or {})
    annotations.pop("kubectl.kubernetes.io/last-applied-configuration", None)
    if annotations:
        stored["annotations"] = annotations
    else:
        stored.pop("annotations", None)
    body = {key: value for key, value in obj.items() if key not in ("metadata", "status")}
    return {**body, "metadata": stored}


def pack(revision: str, owner: str, namespace: str, phases: Sequence[Phase]) -> Packed:
    """Phases with references in place of objects, and the Secrets which hold those."""
    stored = {}
    keys: list[list[str]] = []
    for phase in phases:
        row = []
        for obj in _entries(phase.objects):
            data = encode(obj)
            stored[content_key(data)] = data
            row.append(content_key(data))
        keys.append(row)
    secrets = [_secret(revision, owner, namespace, chunk) for chunk in _chunks(stored)]
    where = {key: secret["metadata"]["name"] for secret in secrets for key in secret["data"]}
    return Packed(
        tuple(
            {
                "name": phase.name,
                "objects": [
                    {"ref": {"name": where[key], "namespace": namespace, "key": key}} for key in row
                ],
            }
            for phase, row in zip(phases, keys, strict=True)
        ),
        tuple(secrets),
    )


def _entries(objects: Sequence[KubeObject]) -> Sequence[KubeObject]:
    """The objects, or where they are too many at most MAX_ENTRIES Lists of about equal size.

    Two neighbours together are larger than the share, so there are at most twice as many Lists
    as shares, and one.
    """
    if len(objects) <= MAX_ENTRIES:
        return objects
    sizes = [len(orjson.dumps(obj)) for obj in objects]
    share = sum(sizes) / ((MAX_ENTRIES - 1) // 2)
    groups: list[list[KubeObject]] = []
    room = 0.0
    for obj, size in zip(objects, sizes, strict=True):
        if not groups or size > room:
            groups.append([])
            room = share
        groups[-1].append(obj)
        room -= size
    return [_list(group) if len(group) > 1 else group[0] for group in groups]


def _list(objects: Sequence[KubeObject]) -> KubeObject:
    return {"apiVersion": "v1", "kind": "List", "items": list(objects)}


def _chunks(stored: Mapping[str, bytes]) -> Iterable[dict[str, bytes]]:
    chunk: dict[str, bytes] = {}
    size = 0
    for key, data in stored.items():
        if chunk and size + len(data) > MAX_SECRET_BYTES:
            yield chunk
            chunk, size = {}, 0
        chunk[key] = data
        size += len(data)
    if chunk:
        yield chunk


def is_content_of(secret: KubeObject, revision: str) -> bool:
    """Whether a Secret was made to hold content of a revision of this name."""
    label = labels_of(secret).get(names.LABEL_REVISION_NAME)
    return (
        label == names.label_value(revision) and secret.get("type") == names.SECRET_TYPE_OBJECT_DATA
    )


def holds_the_same(secret: KubeObject, other: KubeObject) -> bool:
    """Whether two Secrets hold the same, for good."""
    return all(secret.get(field) == other.get(field) for field in ("type", "immutable", "data"))


def _secret(revision: str, owner: str, namespace: str, chunk: Mapping[str, bytes]) -> KubeObject:
    digest = hashlib.sha256()
    for key in sorted(chunk):
        digest.update(key.encode())
        digest.update(chunk[key])
    suffix = f"-{digest.hexdigest()[:16]}"
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": names.SECRET_TYPE_OBJECT_DATA,
        "immutable": True,
        "metadata": {
            "name": f"{names.shortened(revision, names.MAX_NAME - len(suffix))}{suffix}",
            "namespace": namespace,
            "labels": {
                names.LABEL_REVISION_NAME: names.label_value(revision),
                names.LABEL_OWNER_NAME: owner,
            },
        },
        "data": {key: base64.b64encode(data).decode() for key, data in sorted(chunk.items())},
    }
