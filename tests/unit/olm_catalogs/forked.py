"""What a fork server of tests does in its children: what the line says that they are sent."""

import os
import signal
import sys
import time
from typing import NoReturn

from olm_catalogs.io.fork_server import serve


def work() -> NoReturn:
    """Says who it is and who its parent is, and ends, fails or waits for ever; or is killed."""
    match sys.stdin.readline():
        case "end\n":
            os.write(sys.stdout.fileno(), b"%d %d" % (os.getpid(), os.getppid()))
            os._exit(0)
        case "fail\n":
            raise RuntimeError("as it was told")
        case "wait\n":
            os.write(sys.stdout.fileno(), b"%d\n" % os.getpid())
            while True:
                time.sleep(60)
        case _:
            os.kill(os.getpid(), signal.SIGKILL)
    os._exit(2)


if __name__ == "__main__":
    serve(work)
