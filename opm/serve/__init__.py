"""The registry API of OLM Classic: gRPC answers about a catalog, from a cache on disk."""
