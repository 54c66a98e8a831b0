"""Checks before anything is written: CRD upgrades, permissions. Pure."""
