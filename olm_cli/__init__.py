"""The `olm` command line: thin commands over the stages that run in the cluster."""
