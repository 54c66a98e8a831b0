"""The harness: real parts for tests and demos, started and stopped from Python.

What may live here: finding and building programs (binaries, gobuild), running them (process,
ports), keys (pki), a control plane (controlplane, components, kubeconfig), a registry (registry,
tokens, push), images made from files (images), and the ways in: pytest fixtures (pytest_plugin)
and commands (`python -m e2e.harness`). Nothing here knows the products.
"""
