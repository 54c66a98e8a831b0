"""Whose is this object, and may we have it? The single-owner promise, as a table.

First the situation is named from what is there, then (situation, policy) says what to do.
The policies are those of `collisionProtection` in the ClusterObjectSet API.
"""

from dataclasses import dataclass
from enum import Enum, auto

from api.objects import KubeObject, annotations_of, key_of, labels_of, metadata
from api.olm.v1 import names
from olm_rollout.managed_fields import entries_of, is_ours

ANNOTATION_HELM_RELEASE = "meta.helm.sh/release-name"
OWNING_ANNOTATIONS = frozenset({names.ANNOTATION_REVISION, ANNOTATION_HELM_RELEASE})
"""What of an object's annotations says whose it is."""


class Situation(Enum):
    """What a look at the cluster found under the name of an object."""

    ABSENT = auto()
    OURS = auto()
    OURS_OLDER = auto()
    OURS_NEWER = auto()
    ORPHANED = auto()
    """Labelled as this extension's and written by us, but no longer owned by anybody."""
    LEFTOVER = auto()
    """Owned by a deleted object of our name: garbage collection will remove it."""
    OTHER_EXTENSION = auto()
    OTHER_CONTROLLER = auto()
    HELM = auto()
    FOREIGN = auto()


class Policy(Enum):
    """How much may be taken over; the values are the API's."""

    PREVENT = "Prevent"
    IF_NO_CONTROLLER = "IfNoController"
    NONE = "None"


class Action(Enum):
    """What to do with one object."""

    CREATE = auto()
    APPLY = auto()
    SKIP = auto()
    """A newer revision has it already."""
    WAIT = auto()
    REFUSE = auto()


@dataclass(frozen=True, slots=True)
class Owner:
    """Who applies: the object that owns what is applied, and the revision's number."""

    api_version: str
    kind: str
    name: str
    uid: str
    revision: int
    newer: frozenset[int] = frozenset()
    """Revisions of the same owner that are in service and newer than this one."""
    ended: frozenset[int] = frozenset()
    """Those out of service: what they applied last is nobody's but of who has it as well."""
    namespace: str = ""
    """Where the extension is installed; messages about cluster-scoped objects name it."""
    sets: frozenset[str] = frozenset()
    """The uids of its ClusterObjectSets: they control what upstream applied."""

    def controls(self, live: KubeObject) -> bool:
        """Whether an object is this owner's, or one of its ClusterObjectSets'."""
        uid = (controller_of(live) or {}).get("uid")
        return uid == self.uid or uid in self.sets

    @property
    def labels(self) -> dict[str, str]:
        """The labels by which all its objects are found."""
        return {
            names.LABEL_OWNER_KIND: self.kind,
            names.LABEL_OWNER_NAME: names.label_value(self.name),
        }

    def reference(self) -> dict[str, object]:
        """The controller owner reference for applied objects."""
        return {
            "apiVersion": self.api_version,
            "kind": self.kind,
            "name": self.name,
            "uid": self.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }


_ALWAYS: dict[Situation, Action] = {
    Situation.ABSENT: Action.CREATE,
    Situation.OURS: Action.APPLY,
    Situation.OURS_OLDER: Action.APPLY,
    Situation.OURS_NEWER: Action.SKIP,
    Situation.ORPHANED: Action.APPLY,
    Situation.LEFTOVER: Action.WAIT,
    Situation.OTHER_EXTENSION: Action.REFUSE,
}
_BY_POLICY: dict[tuple[Situation, Policy], Action] = {
    (Situation.OTHER_CONTROLLER, Policy.PREVENT): Action.REFUSE,
    (Situation.OTHER_CONTROLLER, Policy.IF_NO_CONTROLLER): Action.REFUSE,
    (Situation.OTHER_CONTROLLER, Policy.NONE): Action.APPLY,
    (Situation.HELM, Policy.PREVENT): Action.REFUSE,
    (Situation.HELM, Policy.IF_NO_CONTROLLER): Action.REFUSE,
    (Situation.HELM, Policy.NONE): Action.APPLY,
    (Situation.FOREIGN, Policy.PREVENT): Action.REFUSE,
    (Situation.FOREIGN, Policy.IF_NO_CONTROLLER): Action.APPLY,
    (Situation.FOREIGN, Policy.NONE): Action.APPLY,
}


def action_for(situation: Situation, policy: Policy) -> Action:
    """What the table says."""
    return _ALWAYS.get(situation) or _BY_POLICY[situation, policy]


def is_refused(live: KubeObject | None, owner: Owner, policy: Policy) -> bool:
    """Whether the table says that an owner may not have an object."""
    return action_for(situation_of(live, owner), policy) is Action.REFUSE


def situation_of(live: KubeObject | None, owner: Owner) -> Situation:
    """Names the situation from the live object's metadata (nothing else is looked at)."""
    if live is None:
        return Situation.ABSENT
    controller = controller_of(live)
    if controller is None:
        return _uncontrolled(live, owner)
    if owner.controls(live):
        return _by_revision(live, owner)
    if not str(controller.get("apiVersion")).startswith(f"{names.GROUP}/"):
        return Situation.OTHER_CONTROLLER
    same = (controller.get("kind"), controller.get("name")) == (owner.kind, owner.name)
    return Situation.LEFTOVER if same else Situation.OTHER_EXTENSION


def controller_of(live: KubeObject) -> dict[str, object] | None:
    """The owner reference with `controller: true`, if there is one."""
    references = metadata(live).get("ownerReferences") or ()
    return next((r for r in references if r.get("controller")), None)


def _uncontrolled(live: KubeObject, owner: Owner) -> Situation:
    if owner.labels.items() <= labels_of(live).items() and _is_written_by_us(live):
        return Situation.ORPHANED
    if ANNOTATION_HELM_RELEASE in annotations_of(live):
        return Situation.HELM
    return Situation.FOREIGN


def _is_written_by_us(live: KubeObject) -> bool:
    """Whether the server notes fields as ours. Labels alone are copied with the rest of a YAML."""
    return any(map(is_ours, entries_of(live)))


def _by_revision(live: KubeObject, owner: Owner) -> Situation:
    found = revision_of(live)
    if found == owner.revision:
        return Situation.OURS
    # A higher number that is no revision any more is a trace of one that was deleted.
    return Situation.OURS_NEWER if found in owner.newer else Situation.OURS_OLDER


def outruns(live: KubeObject, owner: Owner) -> bool:
    """Whether a revision of ours applied an object last that is newer than all we know of.

    It was made since we looked, or deleted before: only another look at the revisions tells.
    """
    return owner.controls(live) and revision_of(live) > max((owner.revision, *owner.newer))


def is_inherited(live: KubeObject, owner: Owner) -> bool:
    """Whether an object of ours was applied last by upstream's controller.

    Its ClusterObjectSet controls it, or it came with a Helm release and so has no revision.
    """
    controller = controller_of(live) or {}
    if controller.get("uid") == owner.uid:
        return names.ANNOTATION_REVISION not in annotations_of(live)
    return controller.get("uid") in owner.sets


def is_set_free(live: KubeObject, owner: Owner) -> bool:
    """Whether an object of ours lost its owner, as when that is deleted and its objects are kept.

    The server does so while the owner is still there: only another look at it tells.
    """
    return situation_of(live, owner) is Situation.ORPHANED


def revision_of(live: KubeObject) -> int:
    """The number of the revision that applied an object last, 0 if it does not say."""
    text = annotations_of(live).get(names.ANNOTATION_REVISION, "")
    return int(text) if text.isascii() and text.isdigit() else 0


def demoted_controller(live: KubeObject) -> list[dict[str, object]]:
    """The owner references with nobody as the controller; the server allows only one."""
    references = metadata(live).get("ownerReferences") or ()
    return [{**r, "controller": False} if r.get("controller") else dict(r) for r in references]


def refusal(live: KubeObject, situation: Situation, owner: Owner) -> tuple[str, str]:
    """The documents' message for an object that we may not have, and a hint naming its owner.

    As in the documents, of a cluster-scoped object the extension's namespace is named.
    """
    key = key_of(live)
    namespace = key.namespace or owner.namespace
    where = f" in namespace '{namespace}'" if namespace else ""
    message = (
        f"{key.gvk.kind} '{key.name}' already exists{where} "
        "and cannot be managed by operator-controller"
    )
    return message, _owner_hint(live, situation)


def _owner_hint(live: KubeObject, situation: Situation) -> str:
    controller = controller_of(live) or {}
    match situation:
        case Situation.OTHER_EXTENSION:
            other = f"{controller.get('kind')} '{controller.get('name')}'"
            return f"it belongs to {other}; an object has one owner"
        case Situation.OTHER_CONTROLLER:
            return f"it is controlled by {controller.get('kind')} '{controller.get('name')}'"
        case Situation.HELM:
            release = annotations_of(live).get(ANNOTATION_HELM_RELEASE)
            return f"it belongs to the Helm release '{release}'"
        case _:
            return "it was made by somebody else; delete it if it is no longer needed"
