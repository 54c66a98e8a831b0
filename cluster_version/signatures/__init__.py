"""Signed statements about release images: keys, where statements are, whether one is valid."""
