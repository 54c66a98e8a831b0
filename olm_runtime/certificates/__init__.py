"""Serving certificates of our own, in Secrets, rotated while callers go on trusting them.

Flow: `secret` reads what a Secret holds; `rotation` decides which step is due; `issuer` makes keys
and certificates; `callers` puts the CAs into what calls a server; `serving` does all of it for
Secrets of one namespace and follows them as files. `secret`, `rotation` and `callers` are pure.
"""
