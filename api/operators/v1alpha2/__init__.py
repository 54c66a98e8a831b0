"""Version v1alpha2 of operators.coreos.com: OperatorGroup as it was."""
