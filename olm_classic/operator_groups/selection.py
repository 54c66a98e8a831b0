"""Which namespaces an OperatorGroup selects, and how they are labelled as its own."""

from collections.abc import Iterable, Mapping

from api.metadata import LabelSelector
from api.objects import KubeObject, is_deleting, labels_of, name_of
from api.operators.v1.operatorgroup import OperatorGroup, OperatorGroupSpec
from olm_classic.names import ALL_NAMESPACES
from olm_content.selectors import selects
from olm_runtime.errors import TerminalError

LABEL_GROUP_PREFIX = "olm.operatorgroup.uid/"
"""Of labels of namespaces whose rest is the UID of a group that selects them."""


class TargetsError(TerminalError):
    """The namespaces of a group cannot be told."""


def selected(spec: OperatorGroupSpec, namespaces: Iterable[KubeObject]) -> list[str]:
    """The namespaces, sorted; all of them is the list with an empty one.

    Those that are named need not exist. Raises TargetsError.
    """
    if spec.target_namespaces:
        named = sorted(set(spec.target_namespaces))
        if ALL_NAMESPACES in named:
            listed = " ".join(spec.target_namespaces)
            raise TargetsError(f"TargetNamespaces cannot contain NamespaceAll: [{listed}]")
        return named
    selector = spec.selector
    if selector is None or selector == LabelSelector():
        return [ALL_NAMESPACES]
    return sorted(name_of(each) for each in namespaces if selects(selector, labels_of(each)))


def label_changes(
    group: OperatorGroup, namespaces: Iterable[KubeObject], *, gone: bool = False
) -> dict[str, Mapping[str, str | None]]:
    """The changes of labels, by namespace, that mark the namespaces of a group and no others.

    A group that selects all namespaces marks none; nor does one that is `gone`.
    """
    key = f"{LABEL_GROUP_PREFIX}{group.metadata.uid}"
    wanted = set() if gone else {*group.status.namespaces} - {ALL_NAMESPACES}
    changes: dict[str, Mapping[str, str | None]] = {}
    for namespace in namespaces:
        name, has = name_of(namespace), key in labels_of(namespace)
        if has != (name in wanted) and not is_deleting(namespace):
            changes[name] = {key: None if has else ""}
    return changes
