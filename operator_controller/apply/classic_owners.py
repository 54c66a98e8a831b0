"""What OLM Classic says on objects of whose they are. An object is never managed by both."""

from api.objects import KubeObject, annotations_of, labels_of, metadata, namespace_of
from api.operators.names import (
    ANNOTATION_INSTALLED_ALONGSIDE,
    LABEL_OWNER,
    LABEL_OWNER_KIND,
    LABEL_OWNER_NAMESPACE,
)
from olm_content.names import CSV_API_VERSION, CSV_KIND


def classic_owner(live: KubeObject) -> str:
    """A hint naming the ClusterServiceVersion that an object belongs to by its metadata, or ""."""
    for reference in metadata(live).get("ownerReferences") or ():
        if (reference["apiVersion"], reference["kind"]) == (CSV_API_VERSION, CSV_KIND):
            return _hint(reference["name"], namespace_of(live))
    labels = labels_of(live)
    if labels.get(LABEL_OWNER) and labels.get(LABEL_OWNER_KIND) == CSV_KIND:
        return _hint(labels[LABEL_OWNER], labels.get(LABEL_OWNER_NAMESPACE, ""))
    for key, value in sorted(annotations_of(live).items()):
        if key.startswith(ANNOTATION_INSTALLED_ALONGSIDE):
            namespace, _, name = value.partition("/")
            # It outlives the ClusterServiceVersion.
            return f"{_hint(name, namespace)}; if that is gone, remove the annotation '{key}'"
    return ""


def _hint(name: str, namespace: str) -> str:
    named = f"{CSV_KIND} '{name}' in namespace '{namespace}'"
    return f"it belongs to {named} of OLM Classic; an object has one owner"
