"""What copies of a ClusterServiceVersion have to be, and how they become so."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from api.objects import KubeObject, annotations_of, labels_of
from olm_classic.copies.records import ANNOTATION_STATUS_HASH, Hashes, digest
from olm_classic.csv.copies import copy_of
from olm_classic.names import COPIES_FIELD_MANAGER
from olm_content.names import CSV_API_VERSION

Patch = list[dict[str, Any]]
"""Operations of a JSON patch."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A copy in any namespace: `obj` has none yet."""

    obj: KubeObject
    hashes: Hashes

    @classmethod
    def of(cls, csv: KubeObject) -> Self:
        """Of what is copied."""
        copy = copy_of(csv, "")
        status = copy["status"]
        rest = {key: value for key, value in copy.items() if key != "status"}
        hashes = Hashes(digest(rest), digest(status))
        annotations = {**copy["metadata"]["annotations"], **hashes.annotations()}
        return cls({**copy, "metadata": {**copy["metadata"], "annotations": annotations}}, hashes)

    def new(self, namespace: str) -> KubeObject:
        """A copy to be created; its status is written afterwards."""
        meta = {**self.obj["metadata"], "namespace": namespace}
        return {
            key: value for key, value in {**self.obj, "metadata": meta}.items() if key != "status"
        }

    def has_status(self, copy: KubeObject) -> bool:
        """Whether a copy, whole, has the status."""
        return bool(copy.get("status") == self.obj["status"])

    def has_rest(self, copy: KubeObject) -> bool:
        """Whether a copy, whole, has all but the status."""
        return (
            copy.get("spec") == self.obj["spec"]
            and labels_of(copy) == labels_of(self.obj)
            and annotations_of(copy) == annotations_of(self.obj)
        )

    def status_patch(self, version: str) -> Patch:
        """Gives the copy of that version the status."""
        return [_at(version), _set("/status", self.obj["status"])]

    def status_hash_patch(self, version: str) -> Mapping[str, Any]:
        """A merge patch that says which status the copy of that version has got."""
        annotations = {ANNOTATION_STATUS_HASH: self.hashes.status}
        return {"metadata": {"resourceVersion": version, "annotations": annotations}}

    def rest_patch(self, version: str, *, owned: bool) -> Patch:
        """Gives the copy of that version all else.

        With `owned`, nobody else owns fields of it afterwards: they would be taken for touched for
        ever. It has no finalizer, which it was given if it was taken for an operator of the
        namespace itself.
        """
        meta = self.obj["metadata"]
        patch = [
            _at(version),
            _set("/metadata/labels", meta["labels"]),
            _set("/metadata/annotations", meta["annotations"]),
            _set("/metadata/finalizers", []),
            _set("/spec", self.obj["spec"]),
        ]
        return [*patch, _set("/metadata/managedFields", self._managed())] if owned else patch

    def _managed(self) -> list[dict[str, Any]]:
        """Every field as ours, so that one that is removed later is missed."""
        meta = {key: self.obj["metadata"][key] for key in ("annotations", "labels")}
        rest = {"metadata": meta, "spec": self.obj["spec"]}
        status = {"status": self.obj["status"]}
        return [_entry(_fields(rest)), _entry(_fields(status), subresource="status")]


def _entry(fields: dict[str, Any], **more: str) -> dict[str, Any]:
    return {
        "manager": COPIES_FIELD_MANAGER,
        "operation": "Update",
        "apiVersion": CSV_API_VERSION,
        "time": "1970-01-01T00:00:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
        **more,
    }


def _fields(value: dict[str, Any]) -> dict[str, Any]:
    """The fields of a map as the API server notes them; lists are one field each."""
    return {
        f"f:{key}": {".": {}, **_fields(each)} if isinstance(each, dict) and each else {}
        for key, each in value.items()
    }


def _at(version: str) -> dict[str, Any]:
    return _set("/metadata/resourceVersion", version) | {"op": "replace"}


def _set(path: str, value: Any) -> dict[str, Any]:
    return {"op": "add", "path": path, "value": value}
