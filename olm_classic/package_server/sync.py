"""How often catalogs are read again: as OLMConfig says, else as the flag does."""

import click

from api.objects import KubeObject
from olm_runtime.cli.values import parse_duration


def sync_seconds(config: KubeObject | None, default: float) -> float:
    """The seconds that the OLMConfig of the cluster asks for, if it does."""
    features = ((config or {}).get("spec") or {}).get("features") or {}
    text = features.get("packageServerSyncInterval")
    if not text:
        return default
    try:
        return parse_duration(text)
    except click.BadParameter:
        return default
