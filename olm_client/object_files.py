"""The objects in files that commands are given."""

from collections.abc import Iterator
from pathlib import Path

from api.objects import KubeObject
from olm_content.formats.kube_yaml import load_all
from olm_runtime.errors import OLMError, TerminalError


def read_file(file: Path) -> bytes:
    """The content of a file. Raises TerminalError."""
    try:
        return file.read_bytes()
    except OSError as error:
        raise TerminalError(f"{file}: {error.strerror}") from error


def objects_in(file: str, content: bytes) -> Iterator[KubeObject]:
    """The objects in the content of a file, those in lists included. Raises TerminalError."""
    try:
        pending = list(load_all(content))
    except OLMError as error:
        raise TerminalError(f"{file}: {error.message}", hint=error.hint) from error
    while pending:
        document = pending.pop(0)
        if not isinstance(document, dict):
            raise TerminalError(f"{file}: expected objects, got {type(document).__name__}")
        if isinstance(document.get("items"), list):
            pending = document["items"] + pending
        else:
            yield document
