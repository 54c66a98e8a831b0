"""Version v1alpha1 of operators.coreos.com: what is wanted, planned and installed."""
