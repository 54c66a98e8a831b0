"""Unpacks catalog images and serves them over HTTPS."""
