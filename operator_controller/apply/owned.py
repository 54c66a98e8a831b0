"""What we add to an object that we apply, and how we see later that it is still as we left it."""

import copy
from typing import Any

from api.v1 import names
from olm_shared.kube_object import KubeObject, metadata
from operator_controller.apply.ownership import Owner

Fingerprint = tuple[object, ...]
"""Equal fingerprints of one object mean that nobody changed what we applied."""


def owned(obj: KubeObject, owner: Owner) -> KubeObject:
    """A copy with owner labels, revision annotation and controller reference."""
    result = copy.copy(obj)
    meta = dict(metadata(obj))
    meta["labels"] = {
        **(meta.get("labels") or {}),
        names.LABEL_OWNER_KIND: owner.kind,
        names.LABEL_OWNER_NAME: owner.label,
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

    Where the server counts changes of the spec (`generation`), status updates do not matter;
    elsewhere every change does.
    """
    meta = metadata(live)
    version = meta.get("generation") or meta.get("resourceVersion")
    return (
        meta.get("uid"),
        version,
        tuple(sorted((meta.get("labels") or {}).items())),
        tuple(sorted((meta.get("annotations") or {}).items())),
        repr(meta.get("ownerReferences")),
        meta.get("deletionTimestamp"),
    )


def field_migration(live: KubeObject) -> list[dict[str, Any]] | None:
    """A JSON patch that turns fields which our POST set into applied ones; None if none are.

    An object is created by POST, so that a collision is seen, and changed by server-side apply.
    To the server these are two managers, and fields of the first would never be removed again.
    """
    entries = list(metadata(live).get("managedFields") or ())
    posted = [i for i, e in enumerate(entries) if _is_ours(e, "Update")]
    if not posted:
        return None
    if any(_is_ours(e, "Apply") for e in entries):
        entries = [e for i, e in enumerate(entries) if i not in posted]
    else:
        entries[posted[0]] = {**entries[posted[0]], "operation": "Apply"}
    return [
        {"op": "test", "path": "/metadata/uid", "value": metadata(live)["uid"]},
        {"op": "replace", "path": "/metadata/managedFields", "value": entries},
        {
            "op": "replace",
            "path": "/metadata/resourceVersion",
            "value": metadata(live)["resourceVersion"],
        },
    ]


def _is_ours(entry: dict[str, Any], operation: str) -> bool:
    return (
        entry.get("manager") == names.FIELD_MANAGER
        and entry.get("operation") == operation
        and not entry.get("subresource")
    )
