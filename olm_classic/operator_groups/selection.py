"""Which namespaces an OperatorGroup selects, and how they are labelled as its own."""

from collections.abc import Collection, Iterable, Mapping

from api.metadata import LabelSelector
from api.objects import KubeObject, labels_of, name_of
from api.operators.v1.operatorgroup import OperatorGroupSpec
from olm_classic.names import ALL_NAMESPACES
from olm_content.selectors import check, selects
from olm_runtime.errors import TerminalError

LABEL_GROUP_PREFIX = "olm.operatorgroup.uid/"
"""Of labels of namespaces whose rest is the UID of a group that selects them."""


class TargetsError(TerminalError):
    """The namespaces of a group cannot be told."""


def selects_by_label(spec: OperatorGroupSpec) -> bool:
    """Whether the namespaces follow from the labels that namespaces have."""
    return not spec.target_namespaces and spec.selector not in (None, LabelSelector())


def selected(spec: OperatorGroupSpec, namespaces: Iterable[KubeObject]) -> list[str]:
    """The namespaces, sorted; all of them is the list with an empty one.

    Those that are named need not exist. Raises TargetsError, SelectorError.
    """
    if spec.target_namespaces:
        named = sorted(set(spec.target_namespaces))
        if ALL_NAMESPACES in named:
            listed = " ".join(spec.target_namespaces)
            raise TargetsError(f"TargetNamespaces cannot contain NamespaceAll: [{listed}]")
        return named
    selector = spec.selector
    if selector is None or not selects_by_label(spec):
        return [ALL_NAMESPACES]
    check(selector)
    return sorted(name_of(each) for each in namespaces if selects(selector, labels_of(each)))


def label_changes(namespace: KubeObject, groups: Collection[str]) -> Mapping[str, str | None]:
    """The changes of the labels of a namespace that mark it as that of groups and no others.

    `groups` are the UIDs of those that select it, and not all namespaces.
    """
    wanted = {f"{LABEL_GROUP_PREFIX}{uid}" for uid in groups}
    present = {key for key in labels_of(namespace) if key.startswith(LABEL_GROUP_PREFIX)}
    return {
        **dict.fromkeys(sorted(wanted - present), ""),
        **dict.fromkeys(sorted(present - wanted)),
    }
