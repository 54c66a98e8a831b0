"""What a person goes on with after the demo: programs on PATH, and variables that they read."""

import os
import shlex
import ssl
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

OURS = ("olm", "opm", "kubectl-olm", "kubectl_complete-olm")
SYSTEM_ROOTS = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt")
"""Where Debian and Fedora have them, if Python names no file."""


@dataclass(frozen=True, slots=True)
class Environment:
    """The environment in a folder, and in a file to be sourced.

    `kubectl`: how to call it. `authorities`: files of CAs, by the variable that names each.
    `others`: further variables. `prefix`: what all programs are run by, if they have to be.
    """

    folder: Path
    kubeconfig: Path
    kubectl: Sequence[str]
    authorities: Mapping[str, Path]
    others: Mapping[str, str] = field(default_factory=dict)
    prefix: Sequence[str] = ()

    def write(self, file: Path) -> None:
        """Writes the programs, the CAs in one file, and the file to be sourced."""
        programs = {name: [str(Path(sys.executable).with_name(name))] for name in OURS}
        for name, argv in {**programs, "kubectl": list(self.kubectl)}.items():
            _write_program(self.folder / "bin" / name, [*self.prefix, *argv])
        self._trust.write_bytes(b"\n".join(self._certificates()))
        file.write_text("\n".join(self._lines()) + "\n")

    @property
    def _trust(self) -> Path:
        return self.folder / "trust.pem"

    def _certificates(self) -> Iterator[bytes]:
        """The system's roots, too: SSL_CERT_FILE takes their place."""
        system = ssl.get_default_verify_paths().cafile
        known = [os.environ.get("SSL_CERT_FILE"), system, *SYSTEM_ROOTS]
        roots = next((Path(each) for each in known if each and Path(each).is_file()), None)
        yield from (path.read_bytes() for path in (roots, *self.authorities.values()) if path)

    def _lines(self) -> Iterator[str]:
        yield "# Written by `make demo`, and good while it runs."
        yield f'export PATH={shlex.quote(str(self.folder / "bin"))}:"$PATH"'
        variables = {
            "KUBECONFIG": str(self.kubeconfig),
            "SSL_CERT_FILE": str(self._trust),
            **{name: str(path) for name, path in self.authorities.items()},
            **self.others,
        }
        yield from (f"export {name}={shlex.quote(value)}" for name, value in variables.items())
        yield 'export NO_PROXY="127.0.0.1,localhost${NO_PROXY:+,$NO_PROXY}"'


def _write_program(path: Path, argv: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\nexec {shlex.join(argv)} "$@"\n')
    path.chmod(0o755)
