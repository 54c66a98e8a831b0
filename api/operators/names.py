"""The names of the group and of its versions."""

GROUP = "operators.coreos.com"
V1 = f"{GROUP}/v1"
V1ALPHA1 = f"{GROUP}/v1alpha1"
V1ALPHA2 = f"{GROUP}/v1alpha2"
V2 = f"{GROUP}/v2"

CATEGORY = "olm"
"""Every kind of the group is in it: `kubectl get olm`."""
