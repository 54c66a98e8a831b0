"""Files of logins, as docker, podman and clusters keep them, and the programs that they name.

The format is that of docker's `config.json` and of containers-auth.json(5): `auths` holds
credentials, `credHelpers` and `credsStore` name programs that are asked for them. Programs are run
for people only: what a cluster's secret says is never run.
"""

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from olm_runtime.errors import TransientError, bounded
from olm_runtime.images.reference import ImageRef
from olm_runtime.images.registry_auth import NO_CREDENTIAL, Credential, credential_for, encoded

HELPER_SECONDS = 60.0
"""A helper may ask its person to unlock a key store."""
DOCKER_HUB, DOCKER_HUB_SERVER = "docker.io", "https://index.docker.io/v1/"
"""What references and what helpers call docker's own registry."""
NONE_FOUND = "credentials not found"
"""How helpers begin to say that they know nothing of a registry."""
IDENTITY_TOKEN_USER = "<token>"  # noqa: S105 - a word of the protocol


@dataclass(frozen=True, slots=True)
class LoginFiles:
    """Files that need not exist; the first that knows a registry counts."""

    files: tuple[Path, ...]
    run_helpers: bool = False

    def find(self, ref: ImageRef) -> Credential:
        """What is known for a reference. Blocking. Raises TransientError."""
        return next(filter(None, (self._find_in(file, ref) for file in self.files)), NO_CREDENTIAL)

    def _find_in(self, file: Path, ref: ImageRef) -> Credential:
        """From the helper of the registry, else the file itself, else the helper of all others."""
        content = _content(file)
        helpers = _members(file, content, "credHelpers") if self.run_helpers else {}
        own = helpers.get(ref.registry) or helpers.get(_server(ref))
        rest = content.get("credsStore") if self.run_helpers else None
        return (
            (own and _ask(str(own), ref, file))
            or credential_for(_members(file, content, "auths"), ref)
            or (rest and _ask(str(rest), ref, file))
            or NO_CREDENTIAL
        )


def _content(file: Path) -> Mapping[str, Any]:
    try:
        content = orjson.loads(file.read_bytes()) if file.exists() else {}
    except (OSError, ValueError) as error:
        raise _unreadable(file, str(error)) from error
    if not isinstance(content, dict):
        raise _unreadable(file, "it is no JSON object")
    return content


def _members(file: Path, content: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = content.get(key) or {}
    if not isinstance(found, dict):
        raise _unreadable(file, f"{key} is no object")
    return found


def _unreadable(file: Path, fault: str) -> TransientError:
    return TransientError(f"cannot read registry credentials: {file}: {fault}")


def _server(ref: ImageRef) -> str:
    return DOCKER_HUB_SERVER if ref.registry == DOCKER_HUB else ref.registry


def _ask(name: str, ref: ImageRef, file: Path) -> Credential:
    """What a helper knows, in the protocol of docker-credential-helpers."""
    program = f"docker-credential-{name}"
    path = None if "/" in name else shutil.which(program)
    if path is None:
        raise TransientError(
            f"credential helper {program}, which {file} names, is not on PATH",
            hint=f"install it, or take it out of {file}",
        )
    try:
        done = subprocess.run(
            [path, "get"],
            input=_server(ref).encode(),
            stdout=subprocess.PIPE,
            timeout=HELPER_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _failed(program, ref, str(error)) from error
    if done.returncode:
        said = done.stdout.decode(errors="replace").strip()
        if said.startswith(NONE_FOUND):
            return NO_CREDENTIAL
        raise _failed(program, ref, bounded(said, 200) or f"exit code {done.returncode}")
    return _parsed(program, ref, done.stdout)


def _parsed(program: str, ref: ImageRef, output: bytes) -> Credential:
    """The answer of a helper; what it says is never shown, for it may be a secret."""
    try:
        answer = orjson.loads(output)
        user, secret = str(answer["Username"]), str(answer["Secret"])
    except (ValueError, KeyError, TypeError):
        raise _failed(program, ref, "its answer cannot be read") from None
    if user == IDENTITY_TOKEN_USER:
        return Credential(identity_token=secret)
    return Credential(encoded(user, secret)) if user or secret else NO_CREDENTIAL


def _failed(program: str, ref: ImageRef, fault: str) -> TransientError:
    return TransientError(
        f"credential helper {program} gives no credentials for {ref.registry}: {fault}",
        hint=f"see which registries it knows: {program} list",
    )
