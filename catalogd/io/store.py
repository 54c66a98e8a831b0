"""The contents of catalogs on disk, as catalogd serves them."""

from functools import partial
from pathlib import Path

from catalogd.io.content import PLAIN, Content, open_content
from catalogd.metrics import Served
from olm_catalogs.io import store

Serving = store.Serving[Content]


class Store(store.Store[Content]):
    """The contents of all catalogs."""

    def __init__(self, root: Path, *, shaped: bool = False) -> None:
        """`shaped`: content without its shape for GraphQL is fetched again."""
        super().__init__(root, partial(open_content, shaped=shaped))

    def served(self) -> list[Served]:
        """What there is to say of the contents."""
        return [
            Served(
                name=name,
                size=serving.content.files[PLAIN].size,
                blobs=serving.content.manifest.blobs,
                unpacked=serving.stored.unpacked,
            )
            for name, serving in self.serving()
        ]
