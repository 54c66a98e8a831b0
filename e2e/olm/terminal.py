"""What a command prints on a real terminal."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence
from types import MappingProxyType

ROWS = 24
OF_TERMINALS = ("COLUMNS", "NO_COLOR", "TERM")
NOTHING: Mapping[str, str] = MappingProxyType({})


def on_terminal(
    argv: Sequence[str],
    columns: int,
    environment: Mapping[str, str],
    more: Mapping[str, str] = NOTHING,
    *,
    code: int = 0,
) -> list[str]:
    """The lines that a terminal of so many columns gets; the program has to end with `code`.

    `more` is added to the environment, of which what it says of terminals is left out.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
    given = {name: value for name, value in environment.items() if name not in OF_TERMINALS}
    env = given | {"TERM": "xterm"} | dict(more)
    with subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=theirs, env=env) as program:
        os.close(theirs)
        pieces: list[bytes] = []
        try:
            while piece := os.read(ours, 65536):
                pieces.append(piece)
        except OSError:  # EIO is how Linux ends it
            pass
        os.close(ours)
    assert program.returncode == code, pieces
    return b"".join(pieces).decode().splitlines()
