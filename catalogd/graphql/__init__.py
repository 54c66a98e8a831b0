"""GraphQL over a catalog: the types that its objects show, queries within limits. Pure."""
