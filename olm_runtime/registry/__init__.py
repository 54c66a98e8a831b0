"""Registries: pulls, pushes, logins, the store of images."""
