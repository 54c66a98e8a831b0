"""OperatorConditions: what operators say of themselves, and what is made of it. Pure."""
