"""Where `olm` keeps what it would else have to find out again."""

import os
from collections.abc import Mapping
from pathlib import Path


def user_cache() -> Path:
    """The folder of the user who runs this."""
    return cache_folder(os.environ, Path.home())


def cache_folder(environment: Mapping[str, str], home: Path) -> Path:
    """The folder of the user who has this environment and home."""
    root = Path(environment.get("XDG_CACHE_HOME", ""))
    return (root if root.is_absolute() else home / ".cache") / "olm"
