"""May an owner have an object? The ownership table, by which each object has one owner.

First the situation is named from what is there, then (situation, policy) says what to do.
"""

from enum import Enum, auto

from api.objects import KubeObject, annotations_of, key_of, labels_of
from olm_rollout.managed_fields import entries_of, is_of
from olm_rollout.ownership import Owner, controller_of

ANNOTATION_HELM_RELEASE = "meta.helm.sh/release-name"


class Situation(Enum):
    """What a look at the cluster found under the name of an object."""

    ABSENT = auto()
    OURS = auto()
    OURS_OLDER = auto()
    OURS_NEWER = auto()
    ORPHANED = auto()
    """Labelled as this owner's and written by its applier, but without a controller."""
    LEFTOVER = auto()
    """Owned by a deleted object of our name: garbage collection will remove it."""
    OTHER_OWNER = auto()
    ELSEWHERE = auto()
    """Another program's, as the applier knows it (`Applier.elsewhere`)."""
    OTHER_CONTROLLER = auto()
    HELM = auto()
    FOREIGN = auto()


class Policy(Enum):
    """How much may be taken over."""

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


_ALWAYS: dict[Situation, Action] = {
    Situation.ABSENT: Action.CREATE,
    Situation.OURS: Action.APPLY,
    Situation.OURS_OLDER: Action.APPLY,
    Situation.OURS_NEWER: Action.SKIP,
    Situation.ORPHANED: Action.APPLY,
    Situation.LEFTOVER: Action.WAIT,
    Situation.OTHER_OWNER: Action.REFUSE,
    Situation.ELSEWHERE: Action.REFUSE,
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
    if not str(controller.get("apiVersion")).startswith(f"{owner.applier.group}/"):
        return Situation.ELSEWHERE if owner.applier.elsewhere(live) else Situation.OTHER_CONTROLLER
    same = (controller.get("kind"), controller.get("name")) == (owner.kind, owner.name)
    return Situation.LEFTOVER if same else Situation.OTHER_OWNER


def _uncontrolled(live: KubeObject, owner: Owner) -> Situation:
    if owner.applier.elsewhere(live):
        return Situation.ELSEWHERE
    if owner.labels.items() <= labels_of(live).items() and _is_written_for(live, owner):
        return Situation.ORPHANED
    if ANNOTATION_HELM_RELEASE in annotations_of(live):
        return Situation.HELM
    return Situation.FOREIGN


def _is_written_for(live: KubeObject, owner: Owner) -> bool:
    """Whether the applier has fields of it. Labels alone are copied with the rest of a YAML."""
    return any(is_of(entry, owner.applier.field_manager) for entry in entries_of(live))


def _by_revision(live: KubeObject, owner: Owner) -> Situation:
    found = owner.applier.revision_of(live)
    if found == owner.revision:
        return Situation.OURS
    # A higher number that is no revision any more is a trace of one that was deleted.
    return Situation.OURS_NEWER if found in owner.newer else Situation.OURS_OLDER


def outruns(live: KubeObject, owner: Owner) -> bool:
    """Whether a revision applied an object last that is newer than all that the owner knows of.

    It was made since the revisions were read, or deleted before: they have to be read again.
    """
    last = owner.applier.revision_of(live)
    return owner.controls(live) and last > max((owner.revision, *owner.newer))


def is_inherited(live: KubeObject, owner: Owner) -> bool:
    """Whether an owner's object was applied last by the applier's predecessor.

    A former controller has it, or the owner itself with no word of a revision.
    """
    controller = controller_of(live) or {}
    if controller.get("uid") == owner.uid:
        return not owner.applier.has_revision(live)
    return controller.get("uid") in owner.former


def is_orphaned(live: KubeObject, owner: Owner) -> bool:
    """Whether an object lost its owner, as when that is deleted without its dependents.

    The server does so while the owner is still there, which has to be read again.
    """
    return situation_of(live, owner) is Situation.ORPHANED


def refusal(live: KubeObject, situation: Situation, owner: Owner) -> tuple[str, str]:
    """The message for an object that an owner may not have, and a hint naming who has it."""
    key = key_of(live)
    namespace = key.namespace or owner.namespace
    where = f" in namespace '{namespace}'" if namespace else ""
    message = (
        f"{key.gvk.kind} '{key.name}' already exists{where} "
        f"and cannot be managed by {owner.applier.name}"
    )
    return message, _owner_hint(live, situation, owner)


def _owner_hint(live: KubeObject, situation: Situation, owner: Owner) -> str:
    controller = controller_of(live) or {}
    match situation:
        case Situation.ELSEWHERE:
            return owner.applier.elsewhere(live)
        case Situation.OTHER_OWNER:
            other = f"{controller.get('kind')} '{controller.get('name')}'"
            return f"it belongs to {other}; an object has one owner"
        case Situation.OTHER_CONTROLLER:
            return f"it is controlled by {controller.get('kind')} '{controller.get('name')}'"
        case Situation.HELM:
            release = annotations_of(live).get(ANNOTATION_HELM_RELEASE)
            return f"it belongs to the Helm release '{release}'"
        case _:
            return "it was made by somebody else; delete it if it is no longer needed"
