"""The content of a revision as immutable Secrets, so that no revision is too large for etcd.

Layout as upstream's: each object is JSON under a key that is its own digest, so equal objects
are stored once and a changed object can never hide behind an old key. A phase of more objects than
the API allows is stored as `v1` Lists of objects, which stand for their items.
"""

import base64
import gzip
import hashlib
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from api.objects import KubeObject, key_of, labels_of
from api.olm.v1 import names
from olm_rollout.adoption import Policy
from olm_rollout.phases import Phase
from olm_runtime.errors import TerminalError, TransientError

MAX_SECRET_BYTES = 900 * 1024
"""Data bytes in one Secret: below the API server's 1 MiB with room for its envelope."""
MAX_OBJECT_BYTES = 10 * 1024 * 1024
"""Of one object when decompressed: a bound against content that grows without end."""
MAX_ENTRIES = 50
"""Objects of a phase: a limit of the ClusterObjectSet API."""
MISSING_SECONDS = 5.0
"""Content that comes, or comes back, is noticed within this time."""
GZIP_MAGIC = b"\x1f\x8b"

_DIGEST = re.compile(r"[A-Za-z0-9_-]{43}")
"""A key that `content_key` made; references of others may be to keys of any kind."""

Where = tuple[str, str]
"""Namespace and name of a Secret."""


class ContentError(TerminalError):
    """The content of a revision cannot be stored, or is not what was stored."""


class MissingContentError(TransientError):
    """The content of a revision is not there (yet): a Secret may still come or come back.

    So it is too where something else is in its place.
    """


@dataclass(frozen=True, slots=True)
class Packed:
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


def encode(obj: KubeObject) -> bytes:
    """The stored form of an object: compact JSON with sorted keys, gzipped when large."""
    data = orjson.dumps(obj, option=orjson.OPT_SORT_KEYS)
    if len(data) <= MAX_SECRET_BYTES:
        return data
    packed = gzip.compress(data, compresslevel=9, mtime=0)
    if len(data) > MAX_OBJECT_BYTES or len(packed) > MAX_SECRET_BYTES:
        raise ContentError(
            f"{key_of(obj)} is too large to store: {len(data)} bytes, {len(packed)} compressed, "
            f"at most {MAX_SECRET_BYTES} compressed and {MAX_OBJECT_BYTES} in all"
        )
    return packed


def decode(data: bytes) -> KubeObject:
    """The object of its stored form. Raises ContentError."""
    if data.startswith(GZIP_MAGIC):
        data = _inflate(data)
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise ContentError(f"stored object is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise ContentError("stored object is no JSON object")
    return found


def _inflate(data: bytes) -> bytes:
    inflater = zlib.decompressobj(wbits=31)
    try:
        plain = inflater.decompress(data, MAX_OBJECT_BYTES + 1)
    except zlib.error as error:
        raise ContentError(f"stored object cannot be decompressed: {error}") from error
    if len(plain) > MAX_OBJECT_BYTES:
        raise ContentError(f"stored object is larger than {MAX_OBJECT_BYTES} bytes")
    return plain


def content_key(data: bytes) -> str:
    """The key of stored data: base64url of its SHA-256, without padding (43 characters)."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


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


def unpack(
    spec: Mapping[str, Any], secrets: Mapping[Where, KubeObject], home: str
) -> tuple[Phase, ...]:
    """The phases of a ClusterObjectSet's spec with objects; `secrets` by (namespace, name).

    A reference without a namespace is to one in `home`. Raises ContentError, or
    MissingContentError naming the phase, the Secret and the key.
    """
    _check_immutable(secrets)
    return tuple(_phase(phase, spec, secrets, home) for phase in spec.get("phases") or ())


def _phase(
    phase: Mapping[str, Any],
    spec: Mapping[str, Any],
    secrets: Mapping[Where, KubeObject],
    home: str,
) -> Phase:
    found = [
        (obj, _policy(entry, phase, spec.get("collisionProtection")))
        for entry in phase["objects"]
        for obj in _items(_object(phase["name"], entry, secrets, home))
    ]
    objects, policies = tuple(obj for obj, _ in found), tuple(policy for _, policy in found)
    return Phase(phase["name"], objects, policies)


def _items(obj: KubeObject) -> Sequence[KubeObject]:
    """The objects of a List, or else the object itself."""
    if (obj.get("apiVersion"), obj.get("kind")) != ("v1", "List"):
        return [obj]
    items = obj.get("items")
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise ContentError("the items of a stored List are no objects")
    return items


def _check_immutable(secrets: Mapping[Where, KubeObject]) -> None:
    """What a revision holds must never change under it."""
    open_ones = sorted("/".join(w) for w, secret in secrets.items() if not secret.get("immutable"))
    if open_ones:
        raise ContentError(
            "the following secrets are not immutable (referenced secrets must have immutable set "
            f"to true): {', '.join(open_ones)}"
        )


def _policy(entry: Mapping[str, Any], phase: Mapping[str, Any], whole: str | None) -> Policy:
    key = "collisionProtection"
    return Policy(entry.get(key) or phase.get(key) or whole or Policy.PREVENT)


def _object(
    phase: str, entry: Mapping[str, Any], secrets: Mapping[Where, KubeObject], home: str
) -> KubeObject:
    ref = entry.get("ref")
    if ref is None:
        inline: KubeObject = entry["object"]
        return inline
    where = (ref.get("namespace") or home, ref["name"])
    prefix = f'resolving ref in phase "{phase}": '
    if where not in secrets:
        raise MissingContentError(
            f"{prefix}Secret {where[0]}/{where[1]} not found", within=MISSING_SECONDS
        )
    data = (secrets[where].get("data") or {}).get(ref["key"])
    if data is None:
        raise MissingContentError(
            f'{prefix}key "{ref["key"]}" not found in Secret {where[0]}/{where[1]}',
            within=MISSING_SECONDS,
        )
    stored = base64.b64decode(data)
    if _DIGEST.fullmatch(ref["key"]) and content_key(stored) != ref["key"]:
        raise MissingContentError(
            f'{prefix}key "{ref["key"]}" in Secret {where[0]}/{where[1]} does not hold what it is '
            "the digest of",
            hint=f"delete the Secret: kubectl delete secret {where[1]} --namespace {where[0]}; "
            "of an extension it is made again",
            within=MISSING_SECONDS,
        )
    return decode(stored)


def refs(phases: Sequence[Mapping[str, Any]], home: str) -> frozenset[Where]:
    """The Secrets that phases refer to."""
    return frozenset(
        ((entry["ref"].get("namespace") or home), entry["ref"]["name"])
        for phase in phases
        for entry in phase["objects"]
        if entry.get("ref")
    )
