"""The program `cluster-version-operator`."""
