"""The story of a ClusterCatalog: state, plan, act, status."""
