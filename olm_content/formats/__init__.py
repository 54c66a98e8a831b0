"""JSON, YAML and text as Kubernetes' tools read and write them. Pure."""
