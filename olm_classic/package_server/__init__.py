"""package-server: the packages of all catalogs, as an aggregated API of the cluster."""
