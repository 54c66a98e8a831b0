"""The order in which the objects of an extension are applied, which is upstream's."""

from olm_rollout.phases import Order

_CERT_MANAGER = "cert-manager.io"
_RBAC = "rbac.authorization.k8s.io"
_STORAGE = "storage.k8s.io"

ORDER = Order(
    (
        ("namespaces", frozenset({("", "Namespace")})),
        (
            "policies",
            frozenset(
                {
                    ("networking.k8s.io", "NetworkPolicy"),
                    ("policy", "PodDisruptionBudget"),
                    ("scheduling.k8s.io", "PriorityClass"),
                }
            ),
        ),
        ("identity", frozenset({("", "ServiceAccount")})),
        ("configuration", frozenset({("", "Secret"), ("", "ConfigMap")})),
        (
            "storage",
            frozenset(
                {
                    ("", "PersistentVolume"),
                    ("", "PersistentVolumeClaim"),
                    (_STORAGE, "StorageClass"),
                }
            ),
        ),
        ("crds", frozenset({("apiextensions.k8s.io", "CustomResourceDefinition")})),
        ("roles", frozenset({(_RBAC, "ClusterRole"), (_RBAC, "Role")})),
        ("bindings", frozenset({(_RBAC, "ClusterRoleBinding"), (_RBAC, "RoleBinding")})),
        (
            "infrastructure",
            frozenset({("", "Service"), (_CERT_MANAGER, "Issuer"), (_CERT_MANAGER, "Certificate")}),
        ),
        ("deploy", frozenset({("apps", "Deployment")})),
        ("scaling", frozenset({("autoscaling.k8s.io", "VerticalPodAutoscaler")})),
        (
            "publish",
            frozenset(
                {
                    ("monitoring.coreos.com", "PrometheusRule"),
                    ("monitoring.coreos.com", "ServiceMonitor"),
                    ("monitoring.coreos.com", "PodMonitor"),
                    ("networking.k8s.io", "Ingress"),
                    ("route.openshift.io", "Route"),
                    ("console.openshift.io", "ConsoleYAMLSample"),
                    ("console.openshift.io", "ConsoleQuickStart"),
                    ("console.openshift.io", "ConsoleCLIDownload"),
                    ("console.openshift.io", "ConsoleLink"),
                    ("console.openshift.io", "ConsolePlugin"),
                }
            ),
        ),
        (
            "admission",
            frozenset(
                {
                    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
                    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
                }
            ),
        ),
    ),
    default="deploy",
)

into_phases = ORDER.into_phases
