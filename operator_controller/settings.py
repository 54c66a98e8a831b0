"""Flags and environment, read here only."""
