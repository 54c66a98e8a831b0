"""Whether an operator supports the namespaces that its OperatorGroup selects.

A mode that a ClusterServiceVersion does not list is not supported: none is inferred from another.
"""

from collections.abc import Collection, Sequence

from olm_classic.names import ALL_NAMESPACES
from olm_content.bundle.model import InstallMode


def unsupported(
    supported: Collection[str], operator_namespace: str, targets: Sequence[str]
) -> str | None:
    """Why the operator cannot watch the targets, in the words of its status; None if it can.

    `supported` are the install modes that it declares as supported.
    """
    if len(targets) == 1:
        return _unsupported_single(supported, operator_namespace, targets[0])
    if InstallMode.MULTI_NAMESPACE not in supported:
        return _refusal(InstallMode.MULTI_NAMESPACE, f"{len(targets)} namespaces")
    for target in targets:
        if target == operator_namespace and InstallMode.OWN_NAMESPACE not in supported:
            return _refusal(InstallMode.OWN_NAMESPACE, "own namespace")
        if target == ALL_NAMESPACES:
            return (
                "operatorgroup has invalid selected namespaces, "
                "NamespaceAll found when |selected namespaces| > 1"
            )
    return None


def _unsupported_single(
    supported: Collection[str], operator_namespace: str, target: str
) -> str | None:
    if target == operator_namespace:
        mode, what = InstallMode.OWN_NAMESPACE, "own namespace"
    elif target == ALL_NAMESPACES:
        mode, what = InstallMode.ALL_NAMESPACES, "all namespaces"
    else:
        mode, what = InstallMode.SINGLE_NAMESPACE, "one namespace"
    return None if mode in supported else _refusal(mode, what)


def _refusal(mode: InstallMode, what: str) -> str:
    return f"{mode} InstallModeType not supported, cannot configure to watch {what}"
