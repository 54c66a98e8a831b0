"""Files of a registry+v1 bundle to what they say; inline configuration. Pure.

`reader.read` reads the files in one of two modes (`mode`), `load` what installing needs (`model`),
`configuration.parse` the user's configuration for one bundle.
"""
