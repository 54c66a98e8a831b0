"""Labels and annotations that OLM Classic puts on objects, and words in them.

They are a contract with clients and with clusters that upstream's OLM has managed.
"""

FIELD_MANAGER = "catalog-operator"
"""Of what catalog-operator writes."""
OPERATOR_FIELD_MANAGER = "olm-operator"
"""Of what olm-operator writes."""
COPIES_FIELD_MANAGER = "olm-operator-copies"
"""Of copied ClusterServiceVersions: what anybody else changes of one is known by it."""

ALL_NAMESPACES = ""
"""What stands for all namespaces in a list of namespaces."""

LABEL_PERMISSIONS_HASH = "olm.permissions.hash"
LABEL_COPIED_FROM = "olm.copiedFrom"
LABEL_MANAGED = "olm.managed"
"""On everything that OLM Classic makes, with the value `true`."""
LABEL_BUNDLE_UNPACK = "operatorframework.io/bundle-unpack-ref"
"""On Jobs that unpack a bundle, and on their pods: the name of the ConfigMap."""

COMPONENT_LABEL_PREFIX = "operators.coreos.com/"
"""Of labels whose rest is `<package>.<namespace>`: the component belongs to that operator."""

AGGREGATION_LABEL_PREFIX = "olm.opgroup.permissions/aggregate-to-"
"""Of labels whose rest is `<hash of an API>-<level>`: cluster roles are aggregated by them."""

ANNOTATION_GENERATED_BY = "olm.generated-by"
"""Of a Subscription that resolution made: the name of its InstallPlan."""

ANNOTATION_OPERATOR_GROUP = "olm.operatorGroup"
ANNOTATION_PROVIDED_APIS = "olm.providedAPIs"
"""Of an OperatorGroup: the APIs that its members provide, `Kind.version.group` joined by commas."""

LABEL_API_PREFIX = "olm.api."
"""Of labels of a ClusterServiceVersion whose rest is the hash of an API."""
PROVIDED = "provided"

LABEL_DEPLOYMENT_HASH = "olm.deployment-spec-hash"

ANNOTATION_PROPERTIES = "operatorframework.io/properties"
"""Of a ClusterServiceVersion: the properties of the bundle that it was resolved as, as JSON."""

DEFAULT_NAMESPACE = "olm"
"""Where the programs work unless they are told."""
RELEASE_VARIABLE = "RELEASE_VERSION"
"""The environment variable that names the release of OpenShift that a program is part of."""
