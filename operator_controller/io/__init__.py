"""Where operator-controller touches the world: cluster, catalogs, bundles, watches."""
