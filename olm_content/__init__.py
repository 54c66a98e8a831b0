"""Reads catalogs, bundles and versions; renders, compares and judges them. Pure."""
