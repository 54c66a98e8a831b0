"""Whether a ClusterServiceVersion belongs to an OperatorGroup that it can work with.

These checks come before those of its phase, at every look, and the first that fails decides.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from api.objects import (
    GVK,
    KubeObject,
    annotations_of,
    labels_of,
    metadata,
    name_of,
    namespace_of,
)
from olm_classic.csv.install_modes import unsupported
from olm_classic.csv.phases import Change, Phase, Reason
from olm_classic.csv.replacement import is_in
from olm_classic.names import (
    ANNOTATION_OPERATOR_GROUP,
    ANNOTATION_PROVIDED_APIS,
    LABEL_API_PREFIX,
    PROVIDED,
)
from olm_classic.operator_groups.intersection import GroupSurface, Judgement, judge
from olm_classic.operator_groups.targets import as_annotation, from_annotation, target_set
from olm_classic.provided_apis import api_hash, provided_apis
from olm_classic.provided_apis import as_annotation as apis_annotation
from olm_content.names import ANNOTATION_OPERATOR_NAMESPACE, ANNOTATION_TARGET_NAMESPACES

CONFLICTS = frozenset({Reason.STATIC_APIS, Reason.API_CONFLICT})
"""Reasons of those whose APIs are not to be provided by them: their Deployments are gone."""
SELECTED_WITHIN = timedelta(seconds=10)
"""In which a new OperatorGroup has its namespaces, if they can be selected."""

_TEXTS = {
    Reason.STATIC_APIS: "static provided api operatorgroup cannot be modified by these apis",
    Reason.API_CONFLICT: "intersecting operatorgroups provide the same apis",
}


@dataclass(frozen=True, slots=True)
class Leave:
    """Nothing can be said of it: a definition that it owns has no valid name."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Its metadata is to have these first; the next look goes on."""

    labels: Mapping[str, str] | None = None
    annotations: Mapping[str, str | None] | None = None
    """None is the value of those that are to go."""


@dataclass(frozen=True, slots=True)
class Provide:
    """The APIs of its group are to be these first, as the annotation of the group."""

    group: str
    annotation: str


@dataclass(frozen=True, slots=True)
class Refuse:
    """It fails. Its Deployments go if `ends_deployments`."""

    change: Change
    ends_deployments: bool = False


@dataclass(frozen=True, slots=True)
class Member:
    """It works for the group's namespaces; all of them is the list with an empty one."""

    group: KubeObject
    targets: tuple[str, ...]


Verdict = Leave | Mark | Provide | Refuse | Member


def examine(
    csv: KubeObject, groups: Sequence[KubeObject], others: Iterable[KubeObject] = ()
) -> Verdict:
    """The verdict on a ClusterServiceVersion that is no copy.

    `groups` are the OperatorGroups of its namespace, `others` those of all namespaces.
    """
    apis = owned_apis(csv)
    if apis is None:
        return Leave()
    labels = {f"{LABEL_API_PREFIX}{api_hash(api)}": PROVIDED for api in apis}
    wanted = group_annotations(groups[0]) if len(groups) == 1 else {}
    present = annotations_of(csv)
    mark = Mark(
        labels if not labels.items() <= labels_of(csv).items() else None,
        wanted if any(present.get(key) != value for key, value in wanted.items()) else None,
    )
    if mark != Mark():
        return mark
    if len(groups) != 1:
        return _without_group(len(groups))
    [group] = groups
    return _targets_verdict(csv, group) or _apis_verdict(csv, apis, group, others)


def owned_apis(csv: KubeObject) -> frozenset[GVK] | None:
    """The APIs that it provides; None where the name of a definition has no group."""
    spec = csv["spec"]
    found = set()
    for each in (spec.get("customresourcedefinitions") or {}).get("owned") or ():
        _, dot, group = each["name"].partition(".")
        if not dot:
            return None
        found.add(GVK(group, each["version"], each["kind"]))
    for each in (spec.get("apiservicedefinitions") or {}).get("owned") or ():
        found.add(GVK(each["group"], each["version"], each["kind"]))
    return frozenset(found)


def group_annotations(group: KubeObject) -> dict[str, str | None]:
    """What members of a group are annotated with; targets once the group knows its own.

    Where it selects nothing there are none: an empty text would be all namespaces.
    """
    wanted: dict[str, str | None] = {
        ANNOTATION_OPERATOR_GROUP: name_of(group),
        ANNOTATION_OPERATOR_NAMESPACE: namespace_of(group),
    }
    selected = selected_namespaces(group)
    if selected is not None:
        targets = as_annotation(selected) if selected else None
        wanted[ANNOTATION_TARGET_NAMESPACES] = targets
    return wanted


def selected_namespaces(group: KubeObject) -> list[str] | None:
    """The namespaces that a group has found; None before it has looked."""
    found: list[str] | None = (group.get("status") or {}).get("namespaces")
    return found


def has_unselected_group(groups: Iterable[KubeObject], now: datetime) -> bool:
    """Whether one of them is so new that its namespaces may yet be selected."""
    return any(
        selected_namespaces(group) is None
        and now - datetime.fromisoformat(metadata(group)["creationTimestamp"]) < SELECTED_WITHIN
        for group in groups
    )


def surface_of(group: KubeObject) -> GroupSurface:
    """Where a group works, and what it provides there."""
    return GroupSurface(
        target_set(namespace_of(group), selected_namespaces(group) or ()),
        provided_apis(annotations_of(group).get(ANNOTATION_PROVIDED_APIS, "")),
        static=bool((group.get("spec") or {}).get("staticProvidedAPIs")),
    )


def pruned(annotation: str, members: Iterable[KubeObject]) -> str | None:
    """The annotation of a group without APIs that no member provides any more; None to wait.

    `members` are the ClusterServiceVersions of its namespace that are no copies and stay. Nothing
    goes while one that has just come provides what is not in the annotation yet. One that gave way
    to another group provides nothing, until all of its APIs are in the annotation again.
    """
    known = provided_apis(annotation)
    provided: set[GVK] = set()
    for csv in members:
        apis = owned_apis(csv) or frozenset()
        if is_in(csv, Phase.NONE, Phase.PENDING) and not apis <= known:
            return None
        if apis <= known or (csv.get("status") or {}).get("reason") not in CONFLICTS:
            provided |= apis
    return apis_annotation(known & provided)


def _without_group(count: int) -> Refuse:
    if not count:
        return _refuse(Reason.NO_GROUP, "csv in namespace with no operatorgroups")
    problem = "csv created in namespace with multiple operatorgroups, can't pick one automatically"
    return _refuse(Reason.TOO_MANY_GROUPS, problem)


def _targets_verdict(csv: KubeObject, group: KubeObject) -> Refuse | None:
    """What is wrong between its install modes and the namespaces of its group."""
    if selected_namespaces(group) == []:
        problem = "no targetNamespaces are matched operatorgroups namespace selection"
        return _refuse(Reason.NO_TARGETS, problem)
    modes = csv["spec"].get("installModes") or []
    if len({mode["type"] for mode in modes}) < len(modes):
        problem = "InstallMode list contains duplicates, cannot make set"
        return _refuse(Reason.INVALID_MODES, f"{problem}: {_as_go_prints(modes)}")
    annotation = annotations_of(csv).get(ANNOTATION_TARGET_NAMESPACES)
    if annotation is None:
        return _refuse(Reason.NO_TARGETS, "csv missing olm.targetNamespaces annotation")
    supported = {mode["type"] for mode in modes if mode["supported"]}
    refusal = unsupported(supported, namespace_of(csv), from_annotation(annotation))
    return _refuse(Reason.UNSUPPORTED_GROUP, refusal) if refusal else None


def _as_go_prints(modes: Collection[Mapping[str, Any]]) -> str:
    printed = (f"{{{mode['type']} {str(mode['supported']).lower()}}}" for mode in modes)
    return f"[{' '.join(printed)}]"


def _apis_verdict(
    csv: KubeObject, apis: frozenset[GVK], group: KubeObject, others: Iterable[KubeObject]
) -> Verdict:
    own = (namespace_of(group), name_of(group))
    surfaces = [surface_of(each) for each in others if (namespace_of(each), name_of(each)) != own]
    judgement = judge(apis, surface_of(group), surfaces)
    if judgement.reason is not None:
        return _conflict(csv, judgement)
    if judgement.apis is not None:
        annotation = apis_annotation(judgement.apis)
        if annotation != annotations_of(group).get(ANNOTATION_PROVIDED_APIS):
            return Provide(name_of(group), annotation)
    targets = from_annotation(annotations_of(csv)[ANNOTATION_TARGET_NAMESPACES])
    return Member(group, tuple(targets))


def _conflict(csv: KubeObject, judgement: Judgement) -> Refuse:
    """A conflict between groups is not written over by that with a static one."""
    reason = Reason(str(judgement.reason))
    if (csv.get("status") or {}).get("reason") == Reason.API_CONFLICT:
        reason = Reason.API_CONFLICT
    return Refuse(Change(Phase.FAILED, reason, _TEXTS[reason]), ends_deployments=True)


def _refuse(reason: Reason, message: str) -> Refuse:
    return Refuse(Change(Phase.FAILED, reason, message))
