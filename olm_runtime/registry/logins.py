"""Logins of registries in the file that podman, docker and we share (containers-auth.json(5))."""

import asyncio
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from olm_runtime.errors import TerminalError
from olm_runtime.images.reference import ImageRef
from olm_runtime.images.registries_conf import Source
from olm_runtime.registry.calls import Call, refusal
from olm_runtime.registry.errors import RegistryError, UnauthorizedError
from olm_runtime.registry.settings import PullSettings, registry_http
from olm_runtime.registry.workstation import Registries, advised, auth_files


def check_login(registry: str, given: str, access: Registries) -> None:
    """Asks the registry whether it takes the credential. Raises RegistryError."""
    ref = ImageRef(registry, "", tag="login")
    with tempfile.TemporaryDirectory(prefix="olm-login-") as folder:
        file = Path(folder, "auth.json")  # the folder is this user's alone
        file.write_bytes(orjson.dumps({"auths": {registry: {"auth": given}}}))
        only = Registries(
            plain_http=access.plain_http,
            skip_tls_verify=access.skip_tls_verify,
            cas_dir=access.cas_dir,
            auth_file=file,
        )
        try:
            with advised(registry):
                asyncio.run(_ask(Source(ref, access.skip_tls_verify), only.settings(ref)))
        except UnauthorizedError as error:
            raise UnauthorizedError(
                f"registry {registry} does not take this user name and password"
            ) from error
        except RegistryError as error:
            raise RegistryError(error.message.partition('": ')[2], hint=error.hint) from error


async def _ask(source: Source, settings: PullSettings) -> None:
    http = registry_http(settings)
    try:
        async with http.exchange(source, "/v2/", Call()) as answer:
            if answer.status_code != 200:
                raise await refusal(answer, source.ref)
    finally:
        await http.aclose()


def login_target(environment: Mapping[str, str], home: Path) -> Path:
    """The file that a login is written to: the first that is read and can be there."""
    files = auth_files(environment, home)
    runtime = environment.get("XDG_RUNTIME_DIR")
    absent = len(files) > 1 and runtime and not Path(runtime).is_dir()
    return files[1] if absent else files[0]


def add_login(file: Path, registry: str, given: str) -> None:
    """Puts the login into the file, which only its owner may read. Raises TerminalError.

    Not where it would not be looked at: a helper that is named for the registry goes first.
    """
    content = _content(file)
    if helper := (content.get("credHelpers") or {}).get(registry):
        raise TerminalError(
            f"{file} says that logins of {registry} are kept by docker-credential-{helper}",
            hint="log in with it, or name another file with --authfile",
        )
    content["auths"] = {**(content.get("auths") or {}), registry: {"auth": given}}
    _write(file, content)


def remove_login(file: Path, registry: str) -> bool:
    """Takes the login out of the file; whether it was there. Raises TerminalError."""
    content = _content(file)
    auths = content.get("auths") or {}
    if registry not in auths:
        return False
    content["auths"] = {key: value for key, value in auths.items() if key != registry}
    _write(file, content)
    return True


def _content(file: Path) -> dict[str, Any]:
    try:
        found = orjson.loads(file.read_bytes()) if file.exists() else {}
    except (OSError, ValueError) as error:
        raise TerminalError(f"{file} cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise TerminalError(f"{file} is no file of logins", hint="remove it, or name another")
    return found


def _write(file: Path, content: Mapping[str, Any]) -> None:
    """Whole or not at all: other tools may be reading."""
    data = orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, aside = tempfile.mkstemp(prefix=f".{file.name}-", dir=file.parent)
        with os.fdopen(handle, "wb") as opened:  # mkstemp makes it 0600
            opened.write(data)
        Path(aside).replace(file)
    except OSError as error:
        raise TerminalError(f"{file} cannot be written: {error.strerror}") from error
