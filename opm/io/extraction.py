"""The files of a bundle into a ConfigMap: what the pods of OLM Classic's Jobs do."""

from pathlib import Path

from api.objects import GVK
from olm_content.bundle.config_map import filled_config_map
from olm_content.bundle.files import MANIFESTS, METADATA
from olm_runtime.errors import TerminalError
from olm_runtime.images.limits import BUNDLE_LIMITS
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.cluster_access import ClusterAccess
from opm.io.references import bundle_files

CONFIG_MAP = GVK("", "v1", "ConfigMap")
FIELD_MANAGER = "opm"


async def extract(
    folder: Path,
    access: ClusterAccess,
    key: tuple[str, str],
    *,
    image: str,
    compress: bool,
    limit: int,
) -> None:
    """Writes the bundle in `folder` into the ConfigMap of this namespace and name.

    Raises OLMError.
    """
    files = _files(folder)
    async with KubeClient.connect(access) as client:
        found = await client.get(CONFIG_MAP, key[1], key[0])
        emptied = {name: found[name] for name in found if name not in ("data", "binaryData")}
        filled = filled_config_map(emptied, files, image, compress=compress, limit=limit)
        await client.update(filled, field_manager=FIELD_MANAGER)


def _files(folder: Path) -> dict[str, bytes]:
    """The files come from an image that anybody may have made. Raises OLMError."""
    try:
        found = [path for part in (MANIFESTS, METADATA) for path in (folder / part).iterdir()]
        size = sum(path.lstat().st_size for path in found)
    except OSError as error:
        raise TerminalError(f"{error.filename}: {error.strerror}") from error
    if links := [path for path in found if path.is_symlink()]:
        raise TerminalError(f"{links[0]} is a link, which might lead out of the bundle")
    if size > BUNDLE_LIMITS.total_bytes:
        raise TerminalError(
            f"the files take {size} bytes, and may take {BUNDLE_LIMITS.total_bytes}"
        )
    return bundle_files(folder)
