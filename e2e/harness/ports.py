"""Free ports on an address of this machine."""

import fcntl
import os
import random
import socket
import tempfile
from pathlib import Path

from e2e.harness.errors import HarnessError

# Below the range from which the kernel takes ports for outgoing connections (32768 and up), so
# that nothing but another harness can take a port between its choice and its use.
FIRST, LAST = 20000, 32000
ATTEMPTS = 200

_claims: dict[int, int] = {}
"""The descriptor that holds the lock of each port handed out; until this process ends."""


def free_port(host: str = "127.0.0.1") -> int:
    """A port on `host` that nobody listens on and that no harness has handed out.

    It stays ours while nobody listens on it: between its choice and its use, and while a server is
    down before it is started again. Errors: HarnessError if none is found.
    """
    chooser = random.SystemRandom()
    for _ in range(ATTEMPTS):
        port = chooser.randrange(FIRST, LAST)
        if port not in _claims and _can_listen(host, port) and _claim(port):
            return port
    raise HarnessError(f"no free port on {host} between {FIRST} and {LAST}")


def _claim(port: int) -> bool:
    """Locks the port's file against other processes; the kernel unlocks it when we end."""
    folder = Path(tempfile.gettempdir(), f"harness-ports-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(folder / str(port), os.O_CREAT | os.O_WRONLY, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return False
    _claims[port] = descriptor
    return True


def _can_listen(host: str, port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As servers do: a connection of an earlier server in TIME_WAIT is no obstacle.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
