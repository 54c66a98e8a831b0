"""I/O: the one wrapper of each outside system (Kubernetes, registries, disk, TLS)."""
