"""Catalogs as they are stored and served: their rules, their store on disk, the registry API."""
