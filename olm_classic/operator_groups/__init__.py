"""OperatorGroups: the namespaces and APIs of the operators of a namespace."""
