"""The kinds of objects that a bundle may bring or lead to, by name alone.

VerticalPodAutoscaler counts as cluster-scoped here because it does upstream: its namespace is
left as written.
"""

from api.objects import KubeObject, metadata
from olm_content.names import CSV_KIND

NAMESPACED_KINDS = frozenset(
    {
        CSV_KIND,
        "ConfigMap",
        "NetworkPolicy",
        "PodDisruptionBudget",
        "PodMonitor",
        "PrometheusRule",
        "Role",
        "RoleBinding",
        "Secret",
        "Service",
        "ServiceAccount",
        "ServiceMonitor",
    }
)

CLUSTER_KINDS = frozenset(
    {
        "ClusterRole",
        "ClusterRoleBinding",
        "ConsoleCLIDownload",
        "ConsoleLink",
        "ConsolePlugin",
        "ConsoleQuickStart",
        "ConsoleYAMLSample",
        "CustomResourceDefinition",
        "PriorityClass",
        "VerticalPodAutoscaler",
    }
)

SUPPORTED_KINDS = NAMESPACED_KINDS | CLUSTER_KINDS

_CLUSTER_SCOPED = (CLUSTER_KINDS - {"VerticalPodAutoscaler"}) | {
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
}


def placed(obj: KubeObject) -> KubeObject:
    """The object as the server will store it: what is in no namespace says none.

    Rendered objects may say one, as upstream's do and as authors write it.
    """
    meta = metadata(obj)
    if obj["kind"] not in _CLUSTER_SCOPED or "namespace" not in meta:
        return obj
    return {**obj, "metadata": {key: meta[key] for key in meta if key != "namespace"}}
