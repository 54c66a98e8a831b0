"""Version v1 of operators.coreos.com: OLMConfig, Operator, OperatorCondition, OperatorGroup."""
