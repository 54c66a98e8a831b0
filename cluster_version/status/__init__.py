"""What the status of a ClusterVersion says. Pure."""
