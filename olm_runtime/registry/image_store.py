"""Unpacked images on disk, keyed by owner and digest: `BASE/OWNER/DIGEST/{image.json,files/}`.

Flow: reference -> digest -> hit, or fetch, unpack aside, rename. A digest's folder is there whole
or not at all, whenever the process is killed: what is removed loses image.json first, without which
it is nothing. An owner has one image at a time; others of its own
are removed after a success. The caller makes sure that an owner is pulled for once at a time.
"""

import asyncio
import tempfile
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from olm_runtime.disk import disk_error, disk_errors
from olm_runtime.folders import TEMPORARY, collect, make_read_only, remove_tree
from olm_runtime.images.layers import LayerError, Rules
from olm_runtime.images.reference import ImageRef, parse_ref
from olm_runtime.registry.client import FetchedImage, RegistryClient
from olm_runtime.registry.settings import PullSettings
from olm_runtime.registry.unpack import unpack

FACTS = "image.json"
FILES = "files"

RulesFor = Callable[[ImageRef, Mapping[str, str]], Rules]
"""What to keep of an image, from the reference that was asked for and the image's labels.

Limits are those of the settings.
"""


def everything(_: ImageRef, __: Mapping[str, str]) -> Rules:
    """Keeps all files of an image; links are left out."""
    return Rules()


@dataclass(frozen=True, slots=True)
class PulledImage:
    """An image on disk. `ref` is canonical; `folder` holds its files, read-only."""

    ref: ImageRef
    labels: Mapping[str, str]
    folder: Path

    async def read(self) -> dict[str, bytes]:
        """All files: relative path with forward slashes -> content.

        Raises DiskError; what cannot be read is there no more, and will be pulled again.
        """
        return await asyncio.to_thread(_read_files, self.folder)


class ImageStore:
    """Pulls images once and keeps them."""

    def __init__(
        self, base: Path, settings: Callable[[], PullSettings], *, jitter: Callable[[], float]
    ) -> None:
        """`settings` is asked at each pull, so that changes need no restart."""
        self._base = base
        self._settings = settings
        self._jitter = jitter

    async def pull(
        self, reference: str, *, owner: str, rules_for: RulesFor = everything
    ) -> PulledImage:
        """The image for a reference, from disk if its digest is there.

        Raises TerminalError for a malformed reference, RegistryError, ImageContentError,
        LayerError; all name the reference.
        """
        ref = parse_ref(reference)
        async with self._client() as client:
            canonical = await client.resolve(ref)
            return await self._pull(client, ref, _pinned(ref, canonical), owner, rules_for)

    async def pull_if_changed(
        self, reference: str, *, known: str, owner: str, rules_for: RulesFor = everything
    ) -> PulledImage | None:
        """As `pull`; None while the reference still means `known`, which is canonical."""
        ref = parse_ref(reference)
        async with self._client() as client:
            canonical = await client.resolve(ref)
            if str(canonical) == known:
                return None
            return await self._pull(client, canonical, _pinned(ref, canonical), owner, rules_for)

    async def stored(self, reference: str, *, owner: str) -> PulledImage | None:
        """What the owner pulled last for a reference, for when its registry does not answer."""
        ref = parse_ref(reference)
        found = await asyncio.to_thread(_complete, self._base / owner)
        return _load(found, ref.canonical(found.name)) if found is not None else None

    async def resolve(self, reference: str) -> ImageRef:
        """The canonical reference: one small request for a tag, none for a digest."""
        ref = parse_ref(reference)
        if ref.is_canonical:
            return ref.canonical(ref.digest)
        async with self._client() as client:
            return await client.resolve(ref)

    async def _pull(
        self,
        client: RegistryClient,
        ref: ImageRef,
        pinned: ImageRef,
        owner: str,
        rules_for: RulesFor,
    ) -> PulledImage:
        """The image of a digest; `ref` is what errors name."""
        final = self._base / owner / pinned.digest
        with disk_errors(f'unpack image "{ref}"', self._base):
            hit = await asyncio.to_thread(_load, final, pinned.canonical(pinned.digest))
            if hit is None:
                await asyncio.to_thread(_make_base, final.parent, self._base)
                hit = await self._fetch(client, ref, pinned, final, rules_for)
            await asyncio.to_thread(_remove_others, final)
        return hit

    def forget(self, owner: str) -> None:
        """Removes what an owner had. Blocking. Raises DiskError."""
        with disk_errors(f"remove what was unpacked for {owner}", self._base / owner):
            _remove_owner(self._base / owner)

    def collect(self, owners: Collection[str], *, interrupted: bool = True) -> None:
        """Removes what belongs to none of the owners. Blocking.

        Interrupted pulls too, unless told otherwise: those cannot be told from running ones, so
        that is for the start. Raises DiskError.
        """
        with disk_errors("remove unpacked images", self._base):
            collect(self._base, owners, interrupted=interrupted, remove=_remove_owner)

    def _client(self) -> RegistryClient:
        return RegistryClient(self._settings(), jitter=self._jitter)

    async def _fetch(
        self,
        client: RegistryClient,
        ref: ImageRef,
        pinned: ImageRef,
        final: Path,
        rules_for: RulesFor,
    ) -> PulledImage:
        work = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix=TEMPORARY, dir=self._base))
        try:
            fetched = await client.fetch(pinned, work)
            rules = replace(rules_for(ref, fetched.labels), limits=client.limits)
            await asyncio.to_thread(_publish, fetched, work, final, rules)
            return PulledImage(fetched.ref, fetched.labels, final / FILES)
        except LayerError as error:
            raise LayerError(f'image "{ref}": {error.message}', hint=error.hint) from error
        finally:
            await asyncio.to_thread(remove_tree, work)


def _pinned(ref: ImageRef, canonical: ImageRef) -> ImageRef:
    """The digest with the tag that it was named by, if it was: mirrors for tags may have it."""
    return canonical._replace(tag=ref.tag)


def _make_base(owner: Path, base: Path) -> None:
    base.mkdir(parents=True, exist_ok=True, mode=0o770)
    owner.mkdir(exist_ok=True, mode=0o700)


def _publish(fetched: FetchedImage, work: Path, final: Path, rules: Rules) -> None:
    """Unpacks aside, then renames: the folder `final` is complete from its first moment."""
    image = work / "image"
    (image / FILES).mkdir(parents=True)
    unpack(fetched.layers, image / FILES, rules)
    (image / FACTS).write_bytes(orjson.dumps({"labels": dict(fetched.labels)}))
    make_read_only(image / FILES)
    _remove_image(final)
    image.rename(final)


def _complete(owner: Path) -> Path | None:
    """The folder of the one digest that an owner has."""
    return next(iter(owner.iterdir()), None) if owner.is_dir() else None


def _load(final: Path, canonical: ImageRef) -> PulledImage | None:
    if not final.is_dir():
        remove_tree(final)
        return None
    try:
        labels = orjson.loads((final / FACTS).read_bytes())["labels"]
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
        remove_tree(final)
        return None
    return PulledImage(canonical, labels, final / FILES)


def _remove_others(final: Path) -> None:
    for entry in final.parent.iterdir():
        if entry != final:
            _remove_image(entry)


def _remove_image(final: Path) -> None:
    if final.is_dir():
        (final / FACTS).unlink(missing_ok=True)
    remove_tree(final)


def _remove_owner(folder: Path) -> None:
    for image in folder.iterdir() if folder.is_dir() else ():
        _remove_image(image)
    remove_tree(folder)


def _read_files(folder: Path) -> dict[str, bytes]:
    try:
        paths = sorted(path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
    except OSError as error:
        with suppress(OSError):
            _remove_image(folder.parent)
        raise disk_error("read an unpacked image", folder, error) from error
