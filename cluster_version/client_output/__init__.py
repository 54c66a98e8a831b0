"""What the commands of a cluster's version print, and what they ask of the cluster. Pure."""
