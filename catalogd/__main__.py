"""Wiring and start-up."""
