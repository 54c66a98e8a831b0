"""Catalogs on disk, and the server of the registry API."""
