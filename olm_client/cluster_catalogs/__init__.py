"""The ClusterCatalogs of a cluster: read, written, waited for, and who depends on them."""
