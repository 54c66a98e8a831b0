"""The kinds that pages show, but those of this project and of what it updates."""

from api.objects import GVK

EVENT = GVK("events.k8s.io", "v1", "Event")
NAMESPACE = GVK("", "v1", "Namespace")
PACKAGE_MANIFEST = GVK("packages.operators.coreos.com", "v1", "PackageManifest")
POD = GVK("", "v1", "Pod")
REPLICA_SET = GVK("apps", "v1", "ReplicaSet")
SERVICE = GVK("", "v1", "Service")
