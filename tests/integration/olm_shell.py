"""`olm` as a user runs it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from e2e.olm.programs import Olm
from e2e.olm.warm import warm_program

Completed = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Shell:
    """A user who trusts the registry and catalogd, and whose output is a pipe."""

    kubeconfig: Path
    environment: dict[str, str]

    def command(self, *arguments: str) -> list[str]:
        program = warm_program("olm")
        return [program, *arguments, f"--kubeconfig={self.kubeconfig}"]

    def __call__(self, *arguments: str, stdin: str | None = None) -> Completed:
        return subprocess.run(
            self.command(*arguments),
            env=self.environment,
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def answer(self, *arguments: str, stdin: str | None = None, code: int = 0) -> Any:
        """The data that a command prints."""
        result = self(*arguments, "-o", "json", stdin=stdin)
        assert result.returncode == code, result.stdout + result.stderr
        return json.loads(result.stdout)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """In the background of a shell SIGINT is ignored unless asked for."""
        listening = (
            "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
            "from olm_cli.__main__ import main; main()"
        )
        return subprocess.Popen(
            [sys.executable, "-c", listening, *self.command(*arguments)[1:]],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def trusting(olm: Olm, folder: Path) -> Callable[[Path], Shell]:
    """Users by their kubeconfigs; the folder has the CAs that they trust, and their cache."""
    authorities = folder / "ca.pem"
    files = [olm.catalogs_ca, *olm.registry_cas.iterdir()]
    authorities.write_bytes(b"".join(file.read_bytes() for file in files))
    environment = os.environ | {"SSL_CERT_FILE": str(authorities), "XDG_CACHE_HOME": str(folder)}
    return lambda kubeconfig: Shell(kubeconfig, environment)
