"""Computes the statuses of kinds and the Events about their changes. Pure."""
