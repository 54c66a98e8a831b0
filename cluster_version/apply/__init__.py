"""How manifests of a release are brought into a cluster."""
