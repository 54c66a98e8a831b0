"""File-based catalogs: documents, records, update graphs. Pure."""
