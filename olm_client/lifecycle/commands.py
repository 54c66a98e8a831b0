"""The `olm upgrade` that makes a change of a spec. Pure."""

import shlex
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from api.olm.v1 import names

_CATALOG = "spec.source.catalog."
_OPTIONS: Mapping[str, str] = MappingProxyType(
    {
        f"{_CATALOG}version": "--version",
        f"{_CATALOG}channels": "--channel",
        f"{_CATALOG}upgradeConstraintPolicy": "--upgrade-constraint-policy",
        "spec.install.preflight.crdUpgradeSafety.enforcement": "--crd-upgrade-safety",
    }
)
_SELECTOR = f"{_CATALOG}selector"


def upgrade_command(extension: str, changes: Iterable[tuple[str, Any]]) -> str:
    """For fields by their paths and what they become; empty where the options cannot say it."""
    words = ["olm", "upgrade", extension]
    for path, value in changes:
        said = _words(path, value)
        if not said:
            return ""
        words += said
    return shlex.join(words)


def command_of_patch(extension: str, patch: Mapping[str, Any]) -> str:
    """For a merge patch of `spec.source.catalog` alone."""
    catalog: Mapping[str, Any] = patch["spec"]["source"]["catalog"]
    changes = ((f"{_CATALOG}{field}", value) for field, value in catalog.items())
    return upgrade_command(extension, changes)


def _words(path: str, value: Any) -> list[str]:
    if path == _SELECTOR:
        named = ((value or {}).get("matchLabels") or {}).get(names.LABEL_METADATA_NAME)
        return ["--catalog", named] if named else []
    option = _OPTIONS.get(path)
    if option == "--version":
        return [option, value or ""]
    if option is None or not value:
        return []
    return [word for each in _listed(value) for word in (option, each)]


def _listed(value: Any) -> list[str]:
    return value if isinstance(value, list) else [str(value)]
