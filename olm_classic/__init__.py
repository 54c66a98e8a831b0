"""OLM Classic (OLM v0): catalogs, subscriptions, install plans, ClusterServiceVersions."""
