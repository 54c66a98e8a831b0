"""SQLite catalogs, which file-based catalogs have replaced: what their tables say."""
