"""Files of a registry+v1 bundle to a typed bundle; inline configuration. Pure."""
