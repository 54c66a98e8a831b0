"""Catalogs as they are kept and served: their rules, their store on disk, the registry API."""
