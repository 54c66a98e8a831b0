"""ClusterServiceVersions: what they need, what they may watch, and what installing them makes."""
