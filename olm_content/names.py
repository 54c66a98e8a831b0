"""Names that catalogs, bundles and their images are written with: schemas, properties, labels.

They are the formats' own (registry+v1, file-based catalogs); those of the API of OLM v1 are in
`api.olm.v1.names`.
"""

# Schemas of the objects of a file-based catalog. Three of them name properties of bundles, too.
PACKAGE = "olm.package"
CHANNEL = "olm.channel"
BUNDLE = "olm.bundle"
DEPRECATIONS = "olm.deprecations"
SCHEMAS = frozenset({PACKAGE, CHANNEL, BUNDLE, DEPRECATIONS})

# Schemas of catalog templates
TEMPLATE_BASIC = "olm.template.basic"
TEMPLATE_SEMVER = "olm.semver"

# Types of the properties of a bundle
GVK = "olm.gvk"
GVK_REQUIRED = "olm.gvk.required"
PACKAGE_REQUIRED = "olm.package.required"
CONSTRAINT = "olm.constraint"
BUNDLE_OBJECT = "olm.bundle.object"
CSV_METADATA = "olm.csv.metadata"
MAX_OPENSHIFT_VERSION = "olm.maxOpenShiftVersion"
DEPRECATED = "olm.deprecated"
"""On bundles that were deprecated in an SQLite catalog: they are left out of file-based ones."""
REQUIREMENTS = frozenset({PACKAGE_REQUIRED, GVK_REQUIRED, CONSTRAINT})
"""What asks for other content to be installed."""

CSV_KIND = "ClusterServiceVersion"
CSV_API_VERSION = "operators.coreos.com/v1alpha1"

# Annotations of a ClusterServiceVersion
ANNOTATION_PROPERTIES = "olm.properties"
"""Further properties of the bundle, as a JSON array."""
ANNOTATION_SKIP_RANGE = "olm.skipRange"
ANNOTATION_SUBSTITUTES_FOR = "olm.substitutesFor"
ANNOTATION_SUGGESTED_NAMESPACE = "operatorframework.io/suggested-namespace"

# Annotations of the workloads that bundles deploy
ANNOTATION_TARGET_NAMESPACES = "olm.targetNamespaces"
"""On pod templates: the namespaces to watch, joined by commas; empty for all of them."""
ANNOTATION_OPERATOR_NAMESPACE = "olm.operatorNamespace"

# Labels of catalog images
LABEL_INDEX_CONFIGS = "operators.operatorframework.io.index.configs.v1"
"""The folder of the file-based catalog."""
LABEL_INDEX_DATABASE = "operators.operatorframework.io.index.database.v1"
"""The file of the SQLite catalog."""

# Labels of bundle images, and annotations in metadata/annotations.yaml
LABEL_BUNDLE_MEDIATYPE = "operators.operatorframework.io.bundle.mediatype.v1"
LABEL_BUNDLE_MANIFESTS = "operators.operatorframework.io.bundle.manifests.v1"
LABEL_BUNDLE_METADATA = "operators.operatorframework.io.bundle.metadata.v1"
LABEL_BUNDLE_PACKAGE = "operators.operatorframework.io.bundle.package.v1"
LABEL_BUNDLE_CHANNELS = "operators.operatorframework.io.bundle.channels.v1"
LABEL_BUNDLE_DEFAULT_CHANNEL = "operators.operatorframework.io.bundle.channel.default.v1"
