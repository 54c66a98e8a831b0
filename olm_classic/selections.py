"""Which objects the controllers of OLM Classic share in stores. Pure."""

from api.objects import GVK
from api.operators.names import LABEL_OWNER_KIND
from olm_content.names import CSV_KIND
from olm_content.render.rbac import RBAC_GROUP
from olm_runtime.watch.informer import Selection

NAMESPACES = Selection(GVK("", "v1", "Namespace"), metadata_only=True, cached=True)
SERVICE_ACCOUNTS = Selection(GVK("", "v1", "ServiceAccount"), metadata_only=True, cached=True)
OF_CSVS = f"{LABEL_OWNER_KIND}={CSV_KIND}"
DEPLOYMENTS = Selection(GVK("apps", "v1", "Deployment"), labels=OF_CSVS, cached=True)
"""Those of ClusterServiceVersions."""
OWNED_SERVICES = Selection(GVK("", "v1", "Service"), labels=OF_CSVS, cached=True)
OWNED_SECRETS = Selection(GVK("", "v1", "Secret"), labels=OF_CSVS, metadata_only=True, cached=True)
ADMISSION_GROUP = "admissionregistration.k8s.io"
VALIDATING = Selection(
    GVK(ADMISSION_GROUP, "v1", "ValidatingWebhookConfiguration"), labels=OF_CSVS, cached=True
)
MUTATING = Selection(
    GVK(ADMISSION_GROUP, "v1", "MutatingWebhookConfiguration"), labels=OF_CSVS, cached=True
)
ROLES = Selection(GVK(RBAC_GROUP, "v1", "Role"), cached=True)
ROLE_BINDINGS = Selection(GVK(RBAC_GROUP, "v1", "RoleBinding"), cached=True)
CLUSTER_ROLES = Selection(GVK(RBAC_GROUP, "v1", "ClusterRole"), cached=True)
CLUSTER_ROLE_BINDINGS = Selection(GVK(RBAC_GROUP, "v1", "ClusterRoleBinding"), cached=True)
CRDS = Selection(GVK("apiextensions.k8s.io", "v1", "CustomResourceDefinition"), cached=True)
API_SERVICES = Selection(GVK("apiregistration.k8s.io", "v1", "APIService"), cached=True)
