"""CAs that are not ours to configure, as a file of the process's own."""

import asyncio
import ssl
import tempfile
from pathlib import Path

from olm_runtime.disk import disk_errors
from olm_runtime.errors import TransientError


class CaFile:
    """Keeps one file of PEM certificates up to date."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._pem = ""

    @property
    def path(self) -> str:
        """Where it is; empty without certificates."""
        return str(self._folder / "ca-bundle.crt") if self._folder and self._pem else ""

    async def write(self, pem: str) -> bool:
        """Writes this to the file; whether it changed. Text around certificates may be anything.

        Raises TransientError when there are none to be read, or nothing can be written: what was
        there stays.
        """
        if pem == self._pem:
            return False
        if pem:
            with disk_errors("keep the CAs of the cluster", self._folder):
                await asyncio.to_thread(self._write, pem)
        self._pem = pem
        return True

    def close(self) -> None:
        """Removes the file."""
        if self._folder is not None:
            for file in self._folder.iterdir():
                file.unlink()
            self._folder.rmdir()
            self._folder, self._pem = None, ""

    def _write(self, pem: str) -> None:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="cluster-cas-"))
        aside = self._folder / "new.crt"
        aside.write_text(pem)
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=aside)
        except ssl.SSLError as error:
            raise TransientError(f"no certificates can be read: {error}") from error
        aside.replace(self._folder / "ca-bundle.crt")
