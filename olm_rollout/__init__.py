"""Applies objects for an owner, phase by phase: adoption, probes, teardown."""
