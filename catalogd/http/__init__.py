"""The content server: an ASGI application and its routes."""
