"""Groups of OpenShift: what OLM Classic and the Cluster Version Operator serve of them. Pure."""
