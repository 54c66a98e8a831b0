"""API group config.openshift.io: how a cluster is configured, and how its parts are. Pure."""
