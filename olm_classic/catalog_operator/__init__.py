"""catalog-operator: catalogs, resolution, subscriptions and install plans of OLM Classic."""
