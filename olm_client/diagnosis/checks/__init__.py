"""The checks: pure functions from a snapshot of the cluster to findings."""
