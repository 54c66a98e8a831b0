"""Sets and removes the annotations by which an extension is suspended."""

from collections.abc import Mapping

from api.objects import KubeObject, annotations_of
from api.olm.v1 import names
from olm_client.extension import find_extension
from olm_client.field_manager import FIELD_MANAGER
from olm_runtime.errors import TerminalError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError

SELF_REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"

Annotations = Mapping[str, str | None]
"""As a merge patch sets them; None removes one."""

NOT_SUSPENDED: Annotations = {
    names.ANNOTATION_SUSPEND: None,
    names.ANNOTATION_SUSPEND_REASON: None,
}


def suspension_annotations(reason: str, user: str) -> Annotations:
    """Those of an extension that a user suspends; user and reason may be empty."""
    by = f"by {user}" if user else ""
    both = f"{reason} ({by})" if reason and by else reason or by
    return {names.ANNOTATION_SUSPEND: "true", names.ANNOTATION_SUSPEND_REASON: both or None}


async def user_of(kube: KubeClient) -> str:
    """As whom the API server knows us; empty where it does not say (before Kubernetes 1.28)."""
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    try:
        answer = await kube.request("POST", SELF_REVIEWS, body=body)
    except ApiError:
        return ""
    return str(((answer.get("status") or {}).get("userInfo") or {}).get("username") or "")


async def set_suspension(
    kube: KubeClient, name: str, wanted: Annotations
) -> tuple[KubeObject, bool]:
    """The extension with these annotations, and whether it had others. Raises TerminalError."""
    raw = await find_extension(kube, name)
    present = annotations_of(raw)
    if all(present.get(key) == value for key, value in wanted.items()):
        return raw, False
    try:
        found = await kube.patch(
            raw, {"metadata": {"annotations": dict(wanted)}}, field_manager=FIELD_MANAGER
        )
    except ApiError as error:
        raise TerminalError(f"ClusterExtension {name}: {error.message}") from error
    return found, True
