"""Release images as they lie in folders. Source of the rules: upstream's notes, section 5.4."""

import asyncio
import logging
from pathlib import Path

from cluster_version.payload.contents import Payload, load
from cluster_version.payload.inclusion import Filters
from cluster_version.payload.release import ReleaseError
from cluster_version.payload.release_folders import OPERATOR_FOLDER, RELEASE_FOLDER
from olm_runtime.registry.settings import this_platform

log = logging.getLogger(__name__)


async def load_folder(folder: Path, image: str, filters: Filters) -> Payload:
    """The payload of a release image that lies in a folder. Raises ReleaseError."""
    payload = await asyncio.to_thread(_load, folder, image, filters)
    if not payload.candidates:
        version, profile = payload.release.version, filters.profile
        log.warning("no manifest of %s is for clusters of the profile %s", version, profile)
    return payload


def _load(folder: Path, image: str, filters: Filters) -> Payload:
    files: dict[str, bytes] = {}
    try:
        for name in (OPERATOR_FOLDER, RELEASE_FOLDER):
            if (folder / name).is_dir():
                files[f"{name}/"] = b""
                inside = (path for path in (folder / name).iterdir() if path.is_file())
                files |= {f"{name}/{path.name}": path.read_bytes() for path in inside}
    except OSError as error:
        raise ReleaseError(f"cannot read the release in {folder}: {error}") from error
    return load(files, image, filters, machine=this_platform().architecture, folder=str(folder))
