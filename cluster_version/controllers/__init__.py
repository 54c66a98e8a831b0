"""What brings a cluster to the release that is asked for, and keeps it there."""
