"""The `olm` command line: thin over the same pure stages that run in the cluster."""
