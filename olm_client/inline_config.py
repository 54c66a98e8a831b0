"""Inline configuration of an extension, as options give it."""

from pathlib import Path
from typing import Any

from olm_client.object_files import read_file
from olm_content.bundle.configuration import WATCH_NAMESPACE
from olm_runtime.errors import OLMError, TerminalError


def with_watch_namespace(config: Any, watch_namespace: str) -> Any:
    """Inline configuration that says the namespace, if one is given; else as it is.

    Raises TerminalError if it says another.
    """
    if not watch_namespace or not isinstance(config or {}, dict):
        return config
    merged = {WATCH_NAMESPACE: watch_namespace, **(config or {})}
    if merged[WATCH_NAMESPACE] != watch_namespace:
        raise TerminalError(
            f'the watch namespace is "{watch_namespace}" and, in the configuration, '
            f'"{merged[WATCH_NAMESPACE]}"'
        )
    return merged


def read_config(file: str | None) -> Any:
    """What a file of inline configuration says; None without one. Raises TerminalError."""
    if file is None:
        return None
    from olm_content.formats.kube_yaml import load_all

    content = read_file(Path(file))
    try:
        return next(load_all(content), {})
    except OLMError as error:
        raise TerminalError(f"{file}: {error.message}", hint=error.hint) from error
