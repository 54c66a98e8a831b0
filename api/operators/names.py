"""The names of the group, of its versions, and of what marks the objects of its owners."""

GROUP = "operators.coreos.com"
V1 = f"{GROUP}/v1"
V1ALPHA1 = f"{GROUP}/v1alpha1"
V1ALPHA2 = f"{GROUP}/v1alpha2"
V2 = f"{GROUP}/v2"

CATEGORY = "olm"
"""Every kind of the group is in it: `kubectl get olm`."""

# Labels of objects that say whose they are
LABEL_OWNER = "olm.owner"
LABEL_OWNER_KIND = "olm.owner.kind"
LABEL_OWNER_NAMESPACE = "olm.owner.namespace"

ANNOTATION_INSTALLED_ALONGSIDE = "operatorframework.io/installed-alongside-"
"""Of annotations of definitions, one per `<namespace>/<csv>` whose plan applied the definition."""
