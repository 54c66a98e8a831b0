"""Version v1 of config.openshift.io: OperatorHub."""
