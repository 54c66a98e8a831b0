"""Version v2 of operators.coreos.com: OperatorCondition as it is stored."""
