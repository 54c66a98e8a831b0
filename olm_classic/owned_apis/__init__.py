"""API services and webhooks that operators serve, and the certificates for them. Pure."""
