"""What we add to an object that we apply, and how we see later that it is still as we left it."""

import copy
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from api.objects import KubeObject, ObjectKey, annotations_of, metadata
from api.olm.v1 import names
from olm_rollout.controlled import is_scaling
from olm_rollout.managed_fields import Entry, entries_of, is_ours
from olm_rollout.ownership import OWNING_ANNOTATIONS, Owner, revision_of

Fingerprint = tuple[object, ...]
"""Equal fingerprints of one object mean that nobody changed what we applied."""


def owned(obj: KubeObject, owner: Owner) -> KubeObject:
    """A copy with owner labels, revision annotation and controller reference."""
    result = copy.copy(obj)
    meta = dict(metadata(obj))
    meta["labels"] = {
        **(meta.get("labels") or {}),
        **owner.labels,
        names.LABEL_MANAGED_BY: names.FIELD_MANAGER,
    }
    meta["annotations"] = {
        **(meta.get("annotations") or {}),
        names.ANNOTATION_REVISION: str(owner.revision),
    }
    meta["ownerReferences"] = [owner.reference()]
    result["metadata"] = meta
    return result


def fingerprint(live: KubeObject) -> Fingerprint:
    """Of a live object's metadata.

    The server notes for every field who set it. A field of ours that somebody else changes is
    theirs from then on, so our notes change exactly when what we applied was changed; status,
    scaling of others' fields, and labels and annotations of users do not matter. Servers that keep
    no such notes are asked for a new version instead. Another revision may have set the same
    fields to other values.
    """
    meta = metadata(live)
    ours = [
        (entry.get("operation"), entry.get("fieldsV1"))
        for entry in meta.get("managedFields") or ()
        if is_ours(entry)
    ]
    if meta.get("managedFields"):
        state: object = hashlib.sha256(orjson.dumps(ours, option=orjson.OPT_SORT_KEYS)).digest()
    else:
        state = meta.get("generation") or meta.get("resourceVersion")
    return meta.get("uid"), revision_of(live), state, meta.get("deletionTimestamp")


def record(owner: Owner, left: Mapping[ObjectKey, Fingerprint]) -> str:
    """A digest of objects as an owner left them.

    While theirs is the same nothing of ours was changed, however long nobody looked; it differs
    also when we would add something else to the objects than we did then.
    """
    digest = hashlib.sha256(orjson.dumps(owned({}, owner), option=orjson.OPT_SORT_KEYS))
    for line in sorted(f"{key!r}: {fingerprint!r}\n" for key, fingerprint in left.items()):
        digest.update(line.encode())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Sighting:
    """What is remembered of a live object: enough to decide by, small enough for thousands."""

    live: KubeObject
    fingerprint: Fingerprint


def sighting(live: KubeObject) -> Sighting:
    """Remembers a live object, without the bulk of its metadata."""
    meta = metadata(live)
    kept = {key: meta[key] for key in _REMEMBERED if meta.get(key)}
    notes = {k: v for k, v in annotations_of(live).items() if k in OWNING_ANNOTATIONS}
    managers = [
        {key: value for key, value in entry.items() if key in _REMEMBERED_OF_MANAGERS}
        for entry in meta.get("managedFields") or ()
        if is_ours(entry) or is_scaling(entry)
    ]
    small = {
        "apiVersion": live.get("apiVersion"),
        "kind": live.get("kind"),
        "metadata": {**kept, "annotations": notes, "managedFields": managers},
    }
    return Sighting(small, fingerprint(live))


_REMEMBERED = (
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "labels",
    "ownerReferences",
    "deletionTimestamp",
)
_REMEMBERED_OF_MANAGERS = ("manager", "operation", "subresource")


def needs_migration(live: KubeObject) -> bool:
    """Whether fields are still those of our POST; a sighting is enough to tell."""
    return any(_is_ours(e, "Update") for e in entries_of(live))


def field_migration(live: KubeObject, *, inherited: bool = False) -> list[dict[str, Any]] | None:
    """A JSON patch that turns fields which our POST set into applied ones; None if none are.

    An object is created by POST, so that a collision is seen, and changed by server-side apply.
    To the server these are two managers, and fields of the first would never be removed again. Of
    an `inherited` object the same holds for what upstream's Helm set.
    """
    entries = entries_of(live)
    posted = [e for e in entries if _is_ours(e, "Update") or (inherited and _is_upstreams(e))]
    if not posted:
        return None
    applied = next((e for e in entries if _is_ours(e, "Apply")), posted[0])
    fields: dict[str, Any] = {}
    for entry in (applied, *posted):
        fields = _merged(fields, entry.get("fieldsV1") or {})
    merged = {
        **applied,
        "manager": names.FIELD_MANAGER,
        "operation": "Apply",
        "fieldsV1": fields,
    }
    kept = [merged if e is applied else e for e in entries if e is applied or e not in posted]
    return [
        {"op": "test", "path": "/metadata/uid", "value": metadata(live)["uid"]},
        {"op": "replace", "path": "/metadata/managedFields", "value": kept},
        {
            "op": "replace",
            "path": "/metadata/resourceVersion",
            "value": metadata(live)["resourceVersion"],
        },
    ]


def _merged(fields: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """The union of two `fieldsV1`."""
    return fields | {step: _merged(fields.get(step, {}), below) for step, below in more.items()}


def _is_upstreams(entry: Entry) -> bool:
    return (entry.get("manager"), entry.get("operation"), bool(entry.get("subresource"))) == (
        names.UPSTREAM_FIELD_MANAGER,
        "Update",
        False,
    )


def _is_ours(entry: Entry, operation: str) -> bool:
    return is_ours(entry) and entry.get("operation") == operation
