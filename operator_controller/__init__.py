"""Reconciles ClusterExtensions: resolve, render, check, apply."""
