"""What OLM Classic says on objects of whose they are. An object is never managed by both."""

from dataclasses import dataclass

from api.objects import KubeObject, annotations_of, labels_of, metadata, namespace_of
from olm_content.names import CSV_API_VERSION, CSV_KIND

LABEL_OWNER = "olm.owner"
LABEL_OWNER_KIND = "olm.owner.kind"
LABEL_OWNER_NAMESPACE = "olm.owner.namespace"
ANNOTATION_INSTALLED_ALONGSIDE = "operatorframework.io/installed-alongside-"
"""Of annotations of definitions, one per `<namespace>/<csv>` whose plan applied the definition."""


@dataclass(frozen=True, slots=True)
class ClassicOwner:
    """A ClusterServiceVersion.

    `annotation`: what says so of a definition, which outlives its ClusterServiceVersion.
    """

    name: str
    namespace: str
    annotation: str = ""


def classic_owner_of(live: KubeObject) -> ClassicOwner | None:
    """The ClusterServiceVersion that an object belongs to, by its metadata."""
    for reference in metadata(live).get("ownerReferences") or ():
        if (reference["apiVersion"], reference["kind"]) == (CSV_API_VERSION, CSV_KIND):
            return ClassicOwner(reference["name"], namespace_of(live))
    labels = labels_of(live)
    if labels.get(LABEL_OWNER) and labels.get(LABEL_OWNER_KIND) == CSV_KIND:
        return ClassicOwner(labels[LABEL_OWNER], labels.get(LABEL_OWNER_NAMESPACE, ""))
    for key, value in sorted(annotations_of(live).items()):
        if key.startswith(ANNOTATION_INSTALLED_ALONGSIDE):
            namespace, _, name = value.partition("/")
            return ClassicOwner(name, namespace, key)
    return None
