"""Every group, label, annotation, finalizer and well-known name of the product.

These names are the public contract of OLM v1: changing one breaks users. Those of catalogs and
bundles are in `olm_content.names`.
"""

GROUP = "olm.operatorframework.io"
VERSION = "v1"
API_VERSION = f"{GROUP}/{VERSION}"

CLUSTER_EXTENSION = "ClusterExtension"
CLUSTER_CATALOG = "ClusterCatalog"
CLUSTER_OBJECT_SET = "ClusterObjectSet"

FIELD_MANAGER = GROUP
"""Field manager of server-side apply for the objects of an extension."""

UPSTREAM_FIELD_MANAGER = "operator-controller"
"""Of upstream's controller where it installs by Helm, by updates."""

REVISION_FIELD_MANAGER = f"{GROUP}/clusterextension-controller"
"""Field manager of server-side apply for ClusterObjectSets."""

# Labels
LABEL_METADATA_NAME = f"{GROUP}/metadata.name"
"""On every ClusterCatalog: its own name, so that selectors can name it."""
LABEL_OWNER_KIND = f"{GROUP}/owner-kind"
LABEL_OWNER_NAME = f"{GROUP}/owner-name"
LABEL_REVISION_NAME = f"{GROUP}/revision-name"
LABEL_MIGRATED_FROM_HELM = f"{GROUP}/migrated-from-helm"
"""On a ClusterObjectSet that was made from a Helm release of upstream's older form."""
LABEL_MANAGED_BY = "app.kubernetes.io/managed-by"

# Annotations
ANNOTATION_WATCH_NAMESPACE = f"{GROUP}/watch-namespace"
ANNOTATION_BUNDLE_NAME = f"{GROUP}/bundle-name"
ANNOTATION_PACKAGE_NAME = f"{GROUP}/package-name"
ANNOTATION_BUNDLE_VERSION = f"{GROUP}/bundle-version"
ANNOTATION_BUNDLE_RELEASE = f"{GROUP}/bundle-release"
ANNOTATION_BUNDLE_REFERENCE = f"{GROUP}/bundle-reference"
ANNOTATION_BUNDLE_PROPERTIES = "olm.properties"
"""On a ClusterObjectSet: properties of the bundle as a JSON array."""
ANNOTATION_REVISION = f"{GROUP}/revision"
ANNOTATION_RENDER_INPUTS = f"{GROUP}/render-inputs"
"""Digest of all that decides what a bundle renders to: unchanged inputs need no rendering."""
ANNOTATION_CONTENT_DIGEST = f"{GROUP}/content-digest"
"""Digest of the objects of a revision."""
ANNOTATION_EXTENSION_GENERATION = f"{GROUP}/extension-generation"
"""On a ClusterObjectSet: the newest generation of its extension that came to it."""
ANNOTATION_CAUSE = f"{GROUP}/cause"
"""On a ClusterObjectSet: what made it."""
ANNOTATION_APPLIED = f"{GROUP}/applied"
"""On a ClusterObjectSet: a digest of its objects as they were left, to know them by later."""
ANNOTATION_TRY_AGAIN = f"{GROUP}/try-again"
"""On a definition that is being deleted: changed to have the API server try again."""
ANNOTATION_REFRESH_REQUESTED = f"{GROUP}/refresh-requested-at"
"""On a ClusterCatalog: a new value has catalogd ask the registry at once (`api.olm.v1.refresh`)."""
ANNOTATION_INSTALL_NAMESPACE = f"{GROUP}/install-namespace"
"""On a ClusterObjectSet: where its extension is installed."""
ANNOTATION_SERVICE_ACCOUNT_NAME = f"{GROUP}/service-account-name"
"""On a ClusterObjectSet: the identity that applies it. Absent: the controller's own."""
ANNOTATION_SERVICE_ACCOUNT_NAMESPACE = f"{GROUP}/service-account-namespace"
OPTIONAL_REVISION_ANNOTATIONS = (
    ANNOTATION_BUNDLE_RELEASE,
    ANNOTATION_BUNDLE_PROPERTIES,
    ANNOTATION_SERVICE_ACCOUNT_NAME,
    ANNOTATION_SERVICE_ACCOUNT_NAMESPACE,
)
"""On a ClusterObjectSet: not there where there is nothing to say."""
ANNOTATION_SUSPEND = f"{GROUP}/suspend"
"""On a ClusterExtension, or a ClusterObjectSet of none: nothing of it is written while it is there
with any value but `false`."""
ANNOTATION_SUSPEND_REASON = f"{GROUP}/suspend-reason"
"""Beside it: why, and by whom."""
ANNOTATION_GENERATOR = f"{GROUP}/generator"
"""On our CRDs: which channel of the API they hold."""
ANNOTATION_FEATURE_SET = f"{GROUP}/feature-set"
"""On our installed objects: which channel of the API they were installed with."""

# Annotations of what serves webhooks and of what calls them
ANNOTATION_SERVING_SECRET = f"{GROUP}/serving-cert-secret-name"
"""On a Service: the Secret in its namespace that gets a certificate for its names."""
ANNOTATION_INJECT_CA = f"{GROUP}/inject-ca-from-secret"
"""On a webhook configuration or CRD: `namespace/name` of the Secret whose CAs it is to trust."""

# Finalizers
FINALIZER_CLEANUP_UNPACK_CACHE = f"{GROUP}/cleanup-unpack-cache"
FINALIZER_CLEANUP_CONTENT_CACHE = f"{GROUP}/cleanup-contentmanager-cache"
FINALIZER_DELETE_SERVER_CACHE = f"{GROUP}/delete-server-cache"
FINALIZER_TEARDOWN = f"{GROUP}/teardown"

# Headers of catalogd's answers
HEADER_RESOLVED_SOURCE = "olm-resolved-source"
"""The canonical reference of the image whose content the answer is of."""

SECRET_TYPE_OBJECT_DATA = f"{GROUP}/object-data"

DEFAULT_SYSTEM_NAMESPACE = "olmv1-system"

MAX_NAME = 253
"""Characters of an object's name, for the kinds that are named like DNS subdomains."""
MAX_LABEL_VALUE = 63
_HASH_LENGTH = 10


def label_value(name: str) -> str:
    """An object's name as the value of a label: itself, or a stable short form when too long."""
    return shortened(name, MAX_LABEL_VALUE)


def shortened(name: str, limit: int) -> str:
    """A name of at most `limit` characters: cut, with a hash of the whole in place of the rest."""
    if len(name) <= limit:
        return name
    import hashlib  # late: names are seldom so long

    digest = hashlib.sha256(name.encode()).hexdigest()[:_HASH_LENGTH]
    return f"{name[: limit - _HASH_LENGTH - 1].rstrip('-.')}-{digest}"
