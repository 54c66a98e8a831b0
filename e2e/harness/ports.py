"""Free ports on an address of this machine."""

import random
import socket

from e2e.harness.errors import HarnessError

# Below the range from which the kernel takes ports for outgoing connections (32768 and up), so
# that nothing but another harness can take a port between its choice and its use.
FIRST, LAST = 20000, 32000
ATTEMPTS = 200

_handed_out: set[int] = set()


def free_port(host: str = "127.0.0.1") -> int:
    """A port on `host` that nobody listens on and that this process has not handed out before.

    Errors: HarnessError if none is found. Two processes that choose at the same moment may, once
    in thousands of times, get the same port: the server that comes second then fails to start and
    says so in its log.
    """
    chooser = random.SystemRandom()
    for _ in range(ATTEMPTS):
        port = chooser.randrange(FIRST, LAST)
        if port not in _handed_out and _can_listen(host, port):
            _handed_out.add(port)
            return port
    raise HarnessError(f"no free port on {host} between {FIRST} and {LAST}")


def _can_listen(host: str, port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As servers do: a connection of an earlier server in TIME_WAIT is no obstacle.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
