"""A real node for the harness's control plane: pods that run, Services, DNS, pulled images.

Needs root on Linux and Debian's packages (requirements); runs in a box of its own (sandbox), so
that nothing on the machine is changed but the cache folder.
"""
