"""`opm`: builds, checks and reads file-based catalogs, compatible with upstream's tool."""
