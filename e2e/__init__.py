"""End-to-end parts: a real control plane, registry and node, and the scenarios that run on them.

Nothing here is shipped; the products never import it.
"""
