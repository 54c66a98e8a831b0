"""A manager and its owners, as no program of ours has them."""

from typing import Any

from api.objects import labels_of
from olm_rollout.ownership import Applier, Owner, controller_reference

GROUP = "apps.example.com"
ELSEWHERE = "elsewhere.example.com/of"
"""A label of objects that another program manages."""
API_VERSION = f"{GROUP}/v1"
KIND = "App"

APPLIER = Applier(
    name="applier",
    subject="app",
    group=GROUP,
    field_manager=GROUP,
    former_field_manager="predecessor",
    revision_annotation=f"{GROUP}/revision",
    retry_annotation=f"{GROUP}/retry",
    labels={"app.kubernetes.io/managed-by": GROUP},
    owner_labels=lambda kind, name: {f"{GROUP}/owner-kind": kind, f"{GROUP}/owner-name": name},
    elsewhere=lambda live: f"it is {of}'s" if (of := labels_of(live).get(ELSEWHERE)) else "",
)


def owner(name: str = "mine", *, revision: int = 1, **more: Any) -> Owner:
    """An owner whose objects are in its possession as a controller."""
    uid = f"uid-{name}"
    reference = controller_reference(API_VERSION, KIND, name, uid)
    return Owner(APPLIER, KIND, name, uid, (reference,), revision, **more)
