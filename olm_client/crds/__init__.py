"""CustomResourceDefinitions read, compared, and held against stored objects."""
