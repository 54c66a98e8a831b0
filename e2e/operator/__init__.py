"""A small operator, real in all its parts, for tests on a cluster where pods run.

`main.py` is the program and needs nothing but Python; `Dockerfile` its image; `bundles.py` makes
its bundles.
"""
