"""aiohttp without the system's certificates, which it would read twice as it is imported.

They are for requests that name no context of their own. All of ours do; a request that forgets it
trusts nobody. Reading them takes a tenth of the time of a command, and a megabyte or two.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

ROOTS = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""The variables by which OpenSSL finds them."""


@contextmanager
def _without_roots() -> Iterator[None]:
    before = {name: os.environ[name] for name in ROOTS if name in os.environ}
    os.environ.update(dict.fromkeys(ROOTS, os.devnull))
    try:
        yield
    finally:
        for name in ROOTS:
            del os.environ[name]
        os.environ.update(before)


with _without_roots():
    import aiohttp

__all__ = ["aiohttp"]
