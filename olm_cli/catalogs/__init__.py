"""What is behind `olm search`, `show`, `graph` and `diff`: contents of catalogs, cached on disk."""
