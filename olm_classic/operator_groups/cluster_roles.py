"""The cluster roles with which users are let to the APIs of an OperatorGroup."""

from collections.abc import Iterable

from api.objects import GVK, KubeObject
from api.operators.names import LABEL_OWNER, LABEL_OWNER_KIND, LABEL_OWNER_NAMESPACE
from olm_classic.hashes import text_hash
from olm_classic.kinds import OPERATOR_GROUP
from olm_classic.names import LABEL_MANAGED
from olm_classic.provided_apis import aggregation_label
from olm_content.render.rbac import RBAC_API

LEVELS = ("admin", "edit", "view")
MAX_NAME_LENGTH = 253


def cluster_role_name(namespace: str, group: str, level: str) -> str:
    """`olm.og.<group>.<level>-<hash>`; the group's name is cut so that the whole is a name."""
    begin, end = "olm.og.", f".{level}-{text_hash(f'{namespace}/{group}/{level}')}"
    return f"{begin}{group[: MAX_NAME_LENGTH - len(begin) - len(end)]}{end}"


def cluster_roles(namespace: str, group: str, apis: Iterable[GVK]) -> list[KubeObject]:
    """One for each level, made by aggregation of the roles for each API that the group provides.

    Without APIs it has no rules: those that were aggregated before are to go.
    """
    provided = frozenset(apis)
    return [_cluster_role(namespace, group, level, provided) for level in LEVELS]


def _cluster_role(namespace: str, group: str, level: str, apis: frozenset[GVK]) -> KubeObject:
    keys = sorted(aggregation_label(api, level) for api in apis)
    role: KubeObject = {
        "apiVersion": RBAC_API,
        "kind": "ClusterRole",
        "metadata": {
            "name": cluster_role_name(namespace, group, level),
            "labels": {
                LABEL_OWNER: group,
                LABEL_OWNER_KIND: OPERATOR_GROUP.kind,
                LABEL_OWNER_NAMESPACE: namespace,
                LABEL_MANAGED: "true",
            },
        },
    }
    if keys:
        selectors = [{"matchLabels": {key: "true"}} for key in keys]
        role["aggregationRule"] = {"clusterRoleSelectors": selectors}
    else:
        role["rules"] = []
    return role
