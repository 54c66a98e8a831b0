"""What a CatalogSource is served by, and what its status says. Pure."""
