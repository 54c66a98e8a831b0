"""Certificates from memory, for OpenSSL reads those that prove who one is from files only."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_OPEN_FILES = Path("/proc/self/fd")


@contextmanager
def chain_file(chain: bytes) -> Iterator[Path]:
    """A file of a chain, its key or both (PEM), until the context ends. Raises OSError."""
    in_memory = _memory_file()
    if in_memory is not None:
        with os.fdopen(in_memory, "wb") as file:
            file.write(chain)
            file.flush()
            yield _OPEN_FILES / str(file.fileno())
        return
    import tempfile  # late, for it takes longer to import than to use

    with tempfile.TemporaryDirectory(prefix="olm-") as private:
        path = Path(private, "chain.pem")
        path.touch(mode=0o600)
        path.write_bytes(chain)
        yield path


def _memory_file() -> int | None:
    """A file that no disk ever has; None where there are none, or none that have a name."""
    if sys.platform != "linux" or not _OPEN_FILES.exists():
        return None
    try:
        return os.memfd_create("chain")
    except OSError:  # the system may forbid them
        return None
