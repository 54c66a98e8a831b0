"""Blobs of a catalog to packages, channels, bundles, deprecations. Pure."""
