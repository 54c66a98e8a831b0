"""A registry+v1 bundle to the objects to apply. Pure."""
