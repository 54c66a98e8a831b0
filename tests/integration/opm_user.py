"""A user with a shell who has bundles and a password; how-tos as commands for that shell."""

import json
import shutil
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from e2e.demo.bundles import own
from e2e.harness.registry import Registry
from e2e.olm.pages import steps
from e2e.olm.programs import Olm
from e2e.olm.warm import warm_path

PLACE = "registry.example.com"
"""The registry of the how-tos; the test's own stands in for it."""
HELLO = "hello-operator"
ICON = '<svg xmlns="http://www.w3.org/2000/svg"/>'

Shell = Callable[[str], subprocess.CompletedProcess[str]]


def user(folder: Path, registry: Registry, olm: Olm | None = None) -> Shell:
    """A user's shell who has bundles and a password, and trusts the registry."""
    shutil.copytree(own().first, folder / "bundle")
    shutil.copytree(own().second, folder / "bundle-0.2.0")
    (folder / "README.md").write_text("# Hello\n\nSays hello.\n")
    (folder / "operator-icon.svg").write_text(ICON)
    if registry.credentials:
        (folder / "password").write_text(registry.credentials.password + "\n")
    authorities = [file.read_bytes() for file in [registry.ca_file] if file]
    environment = {
        "PATH": f"{folder / 'bin'}:{warm_path()}",
        "HOME": str(folder),
    }
    if olm is not None:
        program = " ".join(f"'{part}'" for part in olm.control_plane.binaries.kubectl.argv)
        kubectl = folder / "bin" / "kubectl"
        kubectl.parent.mkdir()
        kubectl.write_text(f'#!/bin/sh\nexec {program} "$@"\n')
        kubectl.chmod(kubectl.stat().st_mode | stat.S_IXUSR)
        environment["KUBECONFIG"] = str(olm.control_plane.kubeconfig)
        authorities.append(olm.catalogs_ca.read_bytes())
    (folder / "ca.pem").write_bytes(b"".join(authorities))
    environment["SSL_CERT_FILE"] = str(folder / "ca.pem")

    def run(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["/bin/sh", "-ec", command.replace(PLACE, registry.address)],
            env=environment,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=180,
        )

    return run


def printed(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout


def commands(how_to: Path) -> dict[str, list[str]]:
    """The how-to's commands by the heading they stand under."""
    found: dict[str, list[str]] = {}
    for step in steps(how_to):
        found.setdefault(step.section, []).append(step.command)
    return found


def values(text: str) -> list[Any]:
    """The JSON values in a text, one after the other."""
    decoder, found = json.JSONDecoder(), []
    while text := text.lstrip():
        value, end = decoder.raw_decode(text)
        found.append(value)
        text = text[end:]
    return found
