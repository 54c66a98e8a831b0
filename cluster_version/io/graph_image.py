"""An image of graph data, as OpenShift's instructions build them, or made of the data alone."""

import hashlib
import random
from pathlib import Path

from cluster_version.graph_data.files import FOLDERS, VERSION, GraphData
from cluster_version.io.graph_files import FilesReader
from olm_runtime.images.layers import Rules
from olm_runtime.images.reference import ImageRef
from olm_runtime.registry.image_store import ImageStore, PulledImage
from olm_runtime.registry.settings import PullSettings

FOLDER = "var/lib/cincinnati-graph-data"
"""Where the data is in images made by those instructions; else it is at the root."""
RULES = Rules(roots=(FOLDER, VERSION, *FOLDERS))


class ImageReader:
    """Pulls the image again when its tag names another one."""

    def __init__(self, reference: ImageRef, settings: PullSettings, cache: Path) -> None:
        """Nothing is asked yet."""
        self._reference = str(reference)
        self._store = ImageStore(cache, lambda: settings, jitter=random.random)
        self._owner = hashlib.sha256(self._reference.encode()).hexdigest()[:16]
        self._known = ""
        self._files = FilesReader()

    async def look(self) -> GraphData | None:
        """The data; None while it is as it was.

        Raises GraphDataError, of the same image again and again, RegistryError and others of
        pulls.
        """
        image = await self._store.pull_if_changed(
            self._reference, known=self._known, owner=self._owner, rules_for=lambda *_: RULES
        )
        if image is None:
            return await self._files.read(None)
        data = await self._read(image)
        self._known = str(image.ref)
        return data

    async def remembered(self) -> GraphData | None:
        """The data of the image that was pulled last, perhaps by another process.

        Raises GraphDataError, DiskError.
        """
        image = await self._store.stored(self._reference, owner=self._owner)
        return await self._read(image) if image is not None else None

    async def _read(self, image: PulledImage) -> GraphData | None:
        files = await image.read()
        return await self._files.read(
            {path.removeprefix(f"{FOLDER}/"): content for path, content in files.items()}
        )
