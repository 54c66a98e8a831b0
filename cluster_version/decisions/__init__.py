"""What the Cluster Version Operator decides about a ClusterVersion and its requests. No I/O."""
