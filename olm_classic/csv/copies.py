"""Copies of a ClusterServiceVersion, which show in a namespace what operator serves it."""

from api.objects import KubeObject, annotations_of, labels_of, name_of, namespace_of
from olm_classic.names import COMPONENT_LABEL_PREFIX, LABEL_COPIED_FROM
from olm_content.names import ANNOTATION_TARGET_NAMESPACES, CSV_API_VERSION, CSV_KIND

REASON_COPIED = "Copied"
ANNOTATION_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

_NOT_COPIED = frozenset({ANNOTATION_TARGET_NAMESPACES, ANNOTATION_LAST_APPLIED})
"""The namespaces of the operator are nobody's business but its own."""


def copy_of(csv: KubeObject, namespace: str) -> KubeObject:
    """The copy for a namespace: the phase is the operator's, reason and message say copied."""
    origin = namespace_of(csv)
    annotations = annotations_of(csv).items()
    labels = labels_of(csv).items()
    message = f"The operator is running in {origin} but is managing this namespace"
    return {
        "apiVersion": CSV_API_VERSION,
        "kind": CSV_KIND,
        "metadata": {
            "name": name_of(csv),
            "namespace": namespace,
            "annotations": {key: value for key, value in annotations if key not in _NOT_COPIED},
            "labels": {
                **{k: v for k, v in labels if not k.startswith(COMPONENT_LABEL_PREFIX)},
                LABEL_COPIED_FROM: origin,
            },
        },
        "spec": csv["spec"],
        "status": {**(csv.get("status") or {}), "reason": REASON_COPIED, "message": message},
    }
