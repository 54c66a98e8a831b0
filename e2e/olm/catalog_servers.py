"""`opm serve` on loopback ports: the catalogs that CatalogSources of tests name."""

import hashlib
import shutil
import socket
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from e2e.harness.ports import free_port
from e2e.harness.process import ChildProcess, service_environment
from e2e.olm.warm import warm_program

HOST = "127.0.0.1"
Blobs = Iterable[Mapping[str, Any]]
"""A file-based catalog."""


def digest_of(content: bytes) -> str:
    """What names a content, as a registry names an image."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def written(blobs: Blobs) -> bytes:
    """A catalog as a file."""
    return b"\n".join(map(orjson.dumps, blobs))


class CatalogServer:
    """A catalog that is served at one address, whatever its content."""

    def __init__(self, work_dir: Path) -> None:
        """Describe it; nothing is started yet."""
        self.port = free_port(HOST)
        self._folder = work_dir
        self._child: ChildProcess | None = None

    @property
    def address(self) -> str:
        """What `spec.address` names."""
        return f"{HOST}:{self.port}"

    def serve(self, blobs: Blobs) -> None:
        """Serves a content from now on: a catalog's users see its server go and come back."""
        self.serve_file(written(blobs))

    def serve_file(self, content: bytes) -> None:
        """The same for a catalog that is written."""
        self.stop()
        configs = self._folder / "configs"
        shutil.rmtree(configs, ignore_errors=True)
        configs.mkdir(parents=True)
        (configs / "catalog.json").write_bytes(content)
        self._child = ChildProcess(
            "opm serve",
            [
                warm_program("opm"),
                "serve",
                str(configs),
                f"--port={self.port}",
                f"--termination-log={self._folder / 'termination'}",
            ],
            log=self._folder / "serve.log",
            env=service_environment(PYTHONUNBUFFERED="1"),
        )
        self._child.start()
        self._child.wait_ready(self._listens)

    def stop(self) -> None:
        """Stop it; its address stays. Idempotent."""
        if self._child is not None:
            self._child.stop()
            self._child = None

    def _listens(self) -> bool:
        with suppress(OSError), socket.create_connection((HOST, self.port), 1.0):
            return True
        return False
