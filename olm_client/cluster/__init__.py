"""The version of a whole cluster: read, changed, and drawn."""
