"""How large a file of a catalog may be. Apart, so that knowing it loads no reader of YAML."""

MAX_DOCUMENT_BYTES = 16 << 20
"""Of one document; several times the largest of real catalogs."""
