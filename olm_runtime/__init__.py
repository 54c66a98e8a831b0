"""What every program runs on: Kubernetes, registries, HTTP, disk, controllers, command lines."""

import sys

# httpx brings a command line along wherever rich and pygments happen to be installed: 50 ms and
# 5 MiB for each process that pulls.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
