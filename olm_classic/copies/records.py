"""What is remembered of a copy: who it is a copy of, and whether somebody touched it.

Of copies only metadata is watched. Three parts of it show whether the rest is as it was left:

annotations    the hashes of what it was made of; that of the status is written after the status
managers       whether somebody else than this program owns a field of it
fields_digest  which fields it has; what somebody removed is in nobody's list of fields
"""

from dataclasses import dataclass
from typing import Any

from api.objects import KubeObject, annotations_of, is_deleting, labels_of, metadata
from olm_classic.hashes import text_hash
from olm_classic.names import COPIES_FIELD_MANAGER, LABEL_COPIED_FROM
from olm_content.formats import go_json
from olm_content.names import ANNOTATION_OPERATOR_NAMESPACE

ANNOTATION_REST_HASH = "olm.operatorframework.io/nonStatusCopyHash"
ANNOTATION_STATUS_HASH = "olm.operatorframework.io/statusCopyHash"

_CACHED_FIELDS = ("name", "namespace", "uid", "resourceVersion", "deletionTimestamp")
_CACHED_ANNOTATIONS = (ANNOTATION_OPERATOR_NAMESPACE, ANNOTATION_REST_HASH, ANNOTATION_STATUS_HASH)
_TOUCHED = ("f:spec", "f:status")
_TOUCHED_METADATA = ("f:labels", "f:annotations")


def trimmed(obj: KubeObject) -> KubeObject:
    """What is cached of the metadata of a copy: a few hundred bytes of maybe 100 000."""
    if "fields" in obj:
        return obj
    meta = metadata(obj)
    annotations, labels = annotations_of(obj), labels_of(obj)
    return {
        "apiVersion": obj.get("apiVersion"),
        "kind": obj.get("kind"),
        "metadata": {
            **{key: meta[key] for key in _CACHED_FIELDS if key in meta},
            "annotations": {k: annotations[k] for k in _CACHED_ANNOTATIONS if k in annotations},
            "labels": {k: labels[k] for k in (LABEL_COPIED_FROM,) if k in labels},
        },
        "fields": {"digest": fields_digest(obj), "foreign": is_foreign(obj)},
    }


@dataclass(frozen=True, slots=True)
class Hashes:
    """Of a copy: what is not its status, and its status."""

    rest: str
    status: str

    def annotations(self) -> dict[str, str]:
        """How a copy says them."""
        return {ANNOTATION_REST_HASH: self.rest, ANNOTATION_STATUS_HASH: self.status}


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of a copy.

    origin    the namespace of which its annotation says that the operator runs there; maybe empty
    label     the namespace of which its label says that it is copied from there
    hashes    of what it was made of, as its annotations say
    fields    the digest of which fields it has
    foreign   whether somebody else owns fields of it
    """

    uid: str
    version: str
    origin: str
    label: str
    hashes: Hashes
    fields: str
    foreign: bool
    deleting: bool

    @classmethod
    def of(cls, obj: KubeObject) -> "Record":
        """Of a copy, whole, its metadata or what was cached of it."""
        short, meta = trimmed(obj), metadata(obj)
        annotations = annotations_of(short)
        return cls(
            uid=str(meta.get("uid") or ""),
            version=str(meta.get("resourceVersion") or ""),
            origin=annotations.get(ANNOTATION_OPERATOR_NAMESPACE, ""),
            label=labels_of(short).get(LABEL_COPIED_FROM, ""),
            hashes=Hashes(
                annotations.get(ANNOTATION_REST_HASH, ""),
                annotations.get(ANNOTATION_STATUS_HASH, ""),
            ),
            fields=short["fields"]["digest"],
            foreign=short["fields"]["foreign"],
            deleting=is_deleting(short),
        )


def origins(obj: KubeObject) -> list[str]:
    """The namespaces that a copy is said to be of: one, unless somebody changed that."""
    found = (
        annotations_of(obj).get(ANNOTATION_OPERATOR_NAMESPACE),
        labels_of(obj).get(LABEL_COPIED_FROM),
    )
    return list(dict.fromkeys(each for each in found if each))


def fields_digest(obj: KubeObject) -> str:
    """Which fields the API server says that each writer owns, and nothing of when."""
    entries = metadata(obj).get("managedFields") or ()
    owned = {
        "/".join(str(entry.get(key) or "") for key in ("manager", "operation", "subresource")): (
            entry.get("fieldsV1") or {}
        )
        for entry in entries
    }
    return digest(owned)


def digest(value: Any) -> str:
    """The same for the same JSON, whatever the order of its fields."""
    return text_hash(go_json.dumps(value, sort_keys=True))


def is_foreign(obj: KubeObject) -> bool:
    """Whether somebody else owns a field that is copied."""
    return any(
        entry.get("manager") != COPIES_FIELD_MANAGER and _touches(entry.get("fieldsV1") or {})
        for entry in metadata(obj).get("managedFields") or ()
    )


def _touches(fields: dict[str, Any]) -> bool:
    meta = fields.get("f:metadata") or {}
    return any(key in fields for key in _TOUCHED) or any(key in meta for key in _TOUCHED_METADATA)
