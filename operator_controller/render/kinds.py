"""The kinds of additional objects that a bundle may bring, by name alone.

VerticalPodAutoscaler counts as cluster-scoped here because it does upstream: its namespace is
left as written.
"""

NAMESPACED_KINDS = frozenset(
    {
        "ClusterServiceVersion",
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
