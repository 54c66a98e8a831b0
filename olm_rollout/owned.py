"""What is added to an object that is applied, and how to see that it is still as it was left."""

import copy
import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from api.objects import KubeObject, ObjectKey, annotations_of, metadata, packed
from olm_rollout.adoption import ANNOTATION_HELM_RELEASE
from olm_rollout.controlled import is_scaling
from olm_rollout.managed_fields import Entry, entries_of, is_of
from olm_rollout.ownership import Applier, Owner

Fingerprint = tuple[object, ...]
"""Equal fingerprints of one object mean that nobody changed what was applied."""


def owned(obj: KubeObject, owner: Owner) -> KubeObject:
    """A copy with the labels, the revision annotation and the references of an owner."""
    applier = owner.applier
    result = copy.copy(obj)
    meta = dict(metadata(obj))
    meta["labels"] = {
        **(meta.get("labels") or {}),
        **owner.labels,
        **applier.labels,
    }
    meta["annotations"] = {
        **(meta.get("annotations") or {}),
        applier.revision_annotation: str(owner.revision),
    }
    meta["ownerReferences"] = list(owner.references)
    result["metadata"] = meta
    return result


def fingerprint(live: KubeObject, applier: Applier) -> Fingerprint:
    """Of a live object's metadata.

    The server notes for every field who set it. A field of ours that somebody else changes is
    theirs from then on, so the entry of our field manager changes exactly when what it applied was
    changed; status, scaling, and labels and annotations of users do not matter. Of a server that
    has no `managedFields` the generation counts instead. The number of the revision is part of it
    because another revision may have set the same fields to other values.
    """
    meta = metadata(live)
    ours = [
        (entry.get("operation"), entry.get("fieldsV1"))
        for entry in meta.get("managedFields") or ()
        if is_of(entry, applier.field_manager)
    ]
    if meta.get("managedFields"):
        state: object = hashlib.sha256(orjson.dumps(ours, option=orjson.OPT_SORT_KEYS)).digest()
    else:
        state = meta.get("generation") or meta.get("resourceVersion")
    return meta.get("uid"), applier.revision_of(live), state, meta.get("deletionTimestamp")


def record(owner: Owner, left: Mapping[ObjectKey, Fingerprint]) -> str:
    """A digest of objects as an owner left them.

    While it is the same nothing that was applied was changed, however long no program ran; it
    differs also when something else would be added to the objects than was then.
    """
    digest = hashlib.sha256(orjson.dumps(owned({}, owner), option=orjson.OPT_SORT_KEYS))
    for line in sorted(f"{key!r}: {fingerprint!r}\n" for key, fingerprint in left.items()):
        digest.update(line.encode())
    return digest.hexdigest()


class Sighting(NamedTuple):
    """What is stored of a live object: enough to decide by, small enough for thousands.

    As JSON it takes a quarter of the memory. `works`: all of it was seen, and its kind's probe
    found it healthy.
    """

    packed: bytes
    fingerprint: Fingerprint
    works: bool = False

    @property
    def live(self) -> KubeObject:
        """The object, decoded anew each time."""
        obj: KubeObject = orjson.loads(self.packed)
        return obj


def sighting(live: KubeObject, applier: Applier) -> Sighting:
    """Of a live object, without the bulk of its metadata."""
    meta = metadata(live)
    stored = {key: meta[key] for key in _STORED if meta.get(key)}
    owning = (applier.revision_annotation, ANNOTATION_HELM_RELEASE)
    notes = {k: v for k, v in annotations_of(live).items() if k in owning}
    managers = [
        {key: value for key, value in entry.items() if key in _STORED_OF_ENTRIES}
        for entry in meta.get("managedFields") or ()
        if is_of(entry, applier.field_manager) or is_scaling(entry)
    ]
    small = {
        "apiVersion": live.get("apiVersion"),
        "kind": live.get("kind"),
        "metadata": {**stored, "annotations": notes, "managedFields": managers},
    }
    return Sighting(packed(small), fingerprint(live, applier))


_STORED = (
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "labels",
    "ownerReferences",
    "deletionTimestamp",
)
_STORED_OF_ENTRIES = ("manager", "operation", "subresource")


def needs_migration(live: KubeObject, applier: Applier) -> bool:
    """Whether fields are still those of the POST that created it; a sighting is enough for that."""
    return any(_is_written(e, applier.field_manager, "Update") for e in entries_of(live))


def field_migration(
    live: KubeObject, applier: Applier, *, inherited: bool = False
) -> list[dict[str, Any]] | None:
    """A JSON patch that turns fields which a POST set into applied ones; None if there are none.

    An object is created by POST, so that a collision is seen, and changed by server-side apply.
    To the server these are two managers, and fields of the first would never be removed again. Of
    an `inherited` object the same holds for what the former field manager set.
    """
    own, former = applier.field_manager, applier.former_field_manager
    entries = entries_of(live)
    posted = [
        e
        for e in entries
        if _is_written(e, own, "Update") or (inherited and _is_written(e, former, "Update"))
    ]
    if not posted:
        return None
    applied = next((e for e in entries if _is_written(e, own, "Apply")), posted[0])
    fields: dict[str, Any] = {}
    for entry in (applied, *posted):
        fields = _merged(fields, entry.get("fieldsV1") or {})
    merged = {**applied, "manager": own, "operation": "Apply", "fieldsV1": fields}
    migrated = [merged if e is applied else e for e in entries if e is applied or e not in posted]
    return [
        {"op": "test", "path": "/metadata/uid", "value": metadata(live)["uid"]},
        {"op": "replace", "path": "/metadata/managedFields", "value": migrated},
        {
            "op": "replace",
            "path": "/metadata/resourceVersion",
            "value": metadata(live)["resourceVersion"],
        },
    ]


def _merged(fields: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """The union of two `fieldsV1`."""
    return fields | {step: _merged(fields.get(step, {}), below) for step, below in more.items()}


def _is_written(entry: Entry, manager: str, operation: str) -> bool:
    return is_of(entry, manager) and entry.get("operation") == operation
