"""The Cluster Version Operator and its update service: a cluster that updates itself."""
