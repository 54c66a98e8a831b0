"""Version v1 of config.openshift.io: ClusterVersion, ClusterOperator, OperatorHub."""
