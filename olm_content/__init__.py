"""What catalogs, bundles and versions say. Pure."""
