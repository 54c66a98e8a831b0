"""What keeps a step of a plan from being written."""

from api.objects import GVK, KubeObject, name_of
from olm_rollout.ownership import controller_of
from olm_runtime.errors import TransientError

OLM_V1_GROUP = "olm.operatorframework.io/"


class StepError(TransientError):
    """A step that cannot be written as it is."""


class ForbiddenStepError(StepError):
    """One that the plan's identity has no right to write."""


class UnsupportedStepError(StepError):
    """One of a kind that plans do not write."""


def refuse_foreign(live: KubeObject) -> None:
    """Raises StepError if OLM v1 owns the object: an object has one owner."""
    owner = controller_of(live)
    if owner is not None and str(owner.get("apiVersion", "")).startswith(OLM_V1_GROUP):
        raise StepError(
            f"{live['kind']} {name_of(live)} belongs to {owner['kind']} {owner['name']} of OLM v1: "
            "an object has one owner"
        )


def not_served(kind: GVK, name: str) -> StepError:
    """The API server does not know the kind of a step."""
    gvk = f"{kind.group}/{kind.version}, Kind={kind.kind}"
    return StepError(
        f"api-server resource not found installing {kind.kind} {name}: GroupVersionKind {gvk} "
        "not found on the cluster. This API may have been deprecated and removed, see "
        "https://kubernetes.io/docs/reference/using-api/deprecation-guide/ for more information."
    )
