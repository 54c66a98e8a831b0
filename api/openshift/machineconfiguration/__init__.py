"""API group machineconfiguration.openshift.io: how nodes are configured. Pure."""
