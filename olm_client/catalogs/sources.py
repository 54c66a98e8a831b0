"""Which catalogs a command is about: folders, images, and catalogs of a cluster."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from olm_client.catalogs.cache import DIGEST, ContentCache, folder_key
from olm_client.catalogs.choice import CatalogChoice, Form, chosen
from olm_client.catalogs.cluster import Cluster, Served
from olm_client.catalogs.content import Content
from olm_client.reach import ClusterOptions
from olm_client.usage import UsageError
from olm_content.names import LABEL_INDEX_CONFIGS
from olm_runtime.cli.async_work import run_async
from olm_runtime.errors import OLMError, TerminalError
from olm_runtime.suggestions import suggestion, suggestion_or_all

if TYPE_CHECKING:
    from olm_runtime.images.reference import ImageRef
    from olm_runtime.registry.workstation import Registries


class Offer(NamedTuple):
    """A catalog and its content, or why it cannot be read."""

    name: str
    content: Content | None = None
    fault: OLMError | None = None


class Sources:
    """The catalogs that the options mean; what was read once is cached on disk."""

    def __init__(self, options: Mapping[str, Any], cache: ContentCache | None = None) -> None:
        self._options = options
        self._cluster = Cluster(ClusterOptions.of(options))
        self._cache = cache or ContentCache.of_user()

    def offers(self) -> list[Offer]:
        """All catalogs asked for. Raises OLMError if not a single one can be read."""
        named: Sequence[str] = self._options.get("catalogs") or ()
        if named:
            offers = [self._offer(text) for text in named]
        else:
            offers = [
                self._try(each.name, partial(self._cluster.content, each, self._cache))
                for each in self._served
            ]
        if not offers:
            raise TerminalError(
                "the cluster has no catalog",
                hint="olm catalog add NAME IMAGE adds one; or give --catalog DIR|IMAGE",
            )
        faults = [offer.fault for offer in offers if offer.fault is not None]
        if len(faults) == len(offers):
            raise faults[0]
        return offers

    def content(self, text: str) -> Content:
        """The content of one catalog: a folder, an image, or one of the cluster. Raises OLMError.

        `NAME@sha256:...` is what the catalog of the cluster had at that digest, if it is cached;
        the first characters of the digest do.
        """
        return self.content_of(chosen(text))

    def content_of(self, choice: CatalogChoice) -> Content:
        """The same, as it was read from the command line."""
        match choice.form:
            case Form.FOLDER:
                return self._folder(Path(choice.where))
            case Form.IMAGE:
                return self._image(choice.where)
            case Form.CACHED:
                return self._cached(choice.where)
            case Form.CLUSTER:
                return self._of_cluster(choice.where)

    @cached_property
    def _served(self) -> list[Served]:
        try:
            return self._cluster.catalogs()
        except OLMError as error:
            instead = "give --catalog DIR|IMAGE to look in a catalog without a cluster"
            hint = f"{error.hint}; or {instead}" if error.hint else instead
            raise TerminalError(error.message, hint=hint) from error

    def _offer(self, text: str) -> Offer:
        try:
            choice = chosen(text)
        except UsageError:
            raise
        except OLMError as error:
            return Offer(text, fault=error)
        return self._try(choice.name, partial(self.content_of, choice))

    def _try(self, name: str, read: Callable[[], Content]) -> Offer:
        try:
            return Offer(name, read())
        except OLMError as error:
            return Offer(name, fault=error)

    def _of_cluster(self, name: str) -> Content:
        for each in self._served:
            if each.name == name:
                return self._cluster.content(each, self._cache)
        raise absent_catalog(name, [each.name for each in self._served])

    def _cached(self, text: str) -> Content:
        content = self._cache.find_unique(text.partition("@")[2])
        if content is None:
            known = ", ".join(each[: len(DIGEST) + 12] for each in self._cache.digests()) or "none"
            raise TerminalError(
                f"{text}: no content of that digest kept on this machine, or several",
                hint=f"only what was read before is kept: {known}",
            )
        return content

    def _folder(self, folder: Path) -> Content:
        def blobs() -> Iterator[bytes]:
            from olm_content.fbc.files import CatalogFormat
            from olm_runtime.file_trees import read_tree

            return (blob.raw for blob in read_tree(folder, CatalogFormat()))

        try:
            return self._stored(folder_key(folder), blobs)
        except OSError as error:
            raise TerminalError(f"{error.filename}: {error.strerror}") from error

    def _image(self, reference: str) -> Content:
        from olm_client.bundle_files import registries
        from olm_runtime.images.reference import parse_ref

        access, ref = registries(dict(self._options)), parse_ref(reference)
        canonical = ref if ref.is_canonical else _resolved(ref, access)

        def blobs() -> Iterator[bytes]:
            from olm_content.fbc.files import CatalogFormat
            from olm_runtime.file_trees import read_tree
            from olm_runtime.registry.workstation import pulled

            with pulled(str(canonical), access) as image:
                root = _configs(reference, image.folder, image.labels)
                for blob in read_tree(root, CatalogFormat()):
                    yield blob.raw

        return self._stored(canonical.digest, blobs)

    def _stored(self, key: str, blobs: Callable[[], Iterator[bytes]]) -> Content:
        content = self._cache.find(key)
        if content is None:
            with self._cache.writing(key) as writer:
                for blob in blobs():
                    writer.add(blob)
            content = self._cache.find(key)
        if content is None:
            raise TerminalError("the catalog was removed from the cache meanwhile")
        return content


def _resolved(ref: "ImageRef", access: "Registries") -> "ImageRef":
    """The image that a tag names now. Raises OLMError."""
    import random
    import tempfile

    from olm_runtime.registry.image_store import ImageStore
    from olm_runtime.registry.workstation import advised

    with advised(ref.registry), tempfile.TemporaryDirectory(prefix="olm-") as work:
        store = ImageStore(Path(work), lambda: access.settings(ref), jitter=random.random)
        return run_async(store.resolve(str(ref)))


def _configs(reference: str, folder: Path, labels: Mapping[str, str]) -> Path:
    """The folder of an image that holds its catalog. Raises TerminalError if there is none."""
    label = labels.get(LABEL_INDEX_CONFIGS, "")
    root = (folder / label.lstrip("/")).resolve()
    if not label or not root.is_relative_to(folder.resolve()) or not root.is_dir():
        raise TerminalError(
            f"{reference} is no image of a file-based catalog",
            hint=f"such an image has the label {LABEL_INDEX_CONFIGS}",
        )
    return root


def absent_catalog(name: str, known: Iterable[str]) -> TerminalError:
    """The error where `--catalog` names none."""
    return TerminalError(
        f'there is no folder and no catalog "{name}" in the cluster',
        hint=suggestion_or_all(name, known, none="the cluster has no catalog"),
    )


def unavailable(offers: Sequence[Offer]) -> list[dict[str, str]]:
    """The catalogs that could not be read, and why."""
    return [
        {"catalog": offer.name, "message": offer.fault.message}
        for offer in offers
        if offer.fault is not None
    ]


def package_names(offers: Sequence[Offer]) -> Iterator[str]:
    """The packages of all catalogs that could be read."""
    return (
        name for offer in offers if offer.content is not None for name in offer.content.digests()
    )


def with_package(offers: Sequence[Offer], package: str) -> list[tuple[str, list[bytes]]]:
    """The catalogs that have a package, and its blobs. Raises TerminalError if none has."""
    found = [
        (offer.name, blobs)
        for offer in offers
        if offer.content is not None and (blobs := offer.content.blobs(package))
    ]
    if not found:
        hint = suggestion(package, package_names(offers)) or "olm search WORDS finds packages"
        where = ", ".join(offer.name for offer in offers if offer.content is not None)
        raise TerminalError(f'no package "{package}" in {where}', hint=hint)
    return found
