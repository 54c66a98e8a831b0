"""The catalog of a mirror: read, copied as it is or made anew of a part."""

import asyncio
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from olm_content.fbc.records import Record, in_order
from olm_runtime.errors import TerminalError
from olm_runtime.images.oci import Descriptor
from olm_runtime.images.reference import ImageRef, parse_ref
from olm_runtime.registry import workstation
from olm_runtime.registry.errors import ImageNotFoundError
from olm_runtime.registry.workstation import Registries
from opm.image import parse_platforms
from opm.io.building import PLATFORMS, add_catalog
from opm.io.copying import PREFIX
from opm.io.layout import Layout
from opm.io.mirror_places import (
    mirror_into_layout,
    mirror_into_registry,
    read_contents,
    write_contents,
)
from opm.io.mirroring import AT_ONCE, Copy, Mirrored, Progress
from opm.io.references import Reading, read_reference
from opm.mirror import Subject, Subjects, Target, Wanted, attachments_of, chosen, images_of
from opm.text import json_text

SHOWN_FAULTS = 10


@dataclass(frozen=True, slots=True)
class Content:
    """A catalog and the images of it.

    catalog  by what it is called; its repository and tag stay
    records  of a catalog that is made anew, because it is a part or no image; None copies it
    layout   the folder that has the images already; None if they are in registries
    """

    catalog: ImageRef
    images: Sequence[ImageRef]
    records: Sequence[Record] | None = None
    layout: Path | None = None


def read_content(
    catalog: str, wanted: Collection[Wanted], name: str | None, access: Registries
) -> Content:
    """What is to be mirrored of a catalog's image, folder or database. Raises OLMError."""
    reading = Reading(
        plain_http=access.plain_http,
        skip_tls_verify=access.skip_tls_verify,
        auth_file=access.auth_file,
        bundles_allowed=False,
    )
    part = chosen(read_reference(catalog, reading), wanted)
    is_image = not Path(catalog).exists()
    called = _called(catalog, name, is_image=is_image)
    as_it_is = is_image and not wanted
    return Content(called, _references(images_of(part)), None if as_it_is else part)


def read_folder(folder: Path) -> Content:
    """What an earlier run has put into a folder. Raises TerminalError."""
    try:
        catalog, images = read_contents(folder)
    except (OSError, ValueError, KeyError) as error:
        raise TerminalError(
            f"{folder} holds no mirrored catalog: {error}",
            hint=f"fill it with: opm mirror CATALOG {PREFIX}{folder}",
        ) from error
    return Content(parse_ref(catalog), _references(images), layout=folder)


def _called(catalog: str, name: str | None, *, is_image: bool) -> ImageRef:
    if name is not None:
        return parse_ref(f"localhost/{name}")
    if is_image:
        ref = parse_ref(catalog)
        return ref if ref.tag else ImageRef(ref.registry, ref.repository, "latest", ref.digest)
    raise TerminalError(
        f"{catalog} does not say what the catalog is to be called",
        hint="such as --name team/catalog:v1",
    )


def _references(texts: Sequence[str]) -> list[ImageRef]:
    """Raises TerminalError that names those that are none."""
    found, faults = [], []
    for text in texts:
        try:
            found.append(parse_ref(text))
        except TerminalError as error:
            faults.append(f"\n  {error.message}")
    if faults:
        raise TerminalError(
            "the catalog names images that are none:" + "".join(faults[:SHOWN_FAULTS]),
            hint="choose packages without them with --package",
        )
    return found


def copy_images(
    copies: Sequence[Copy],
    content: Content,
    target: Target | Path,
    access: Registries,
    progress: Progress,
    *,
    at_once: int = AT_ONCE,
) -> Mirrored:
    """Copies images into a registry or a folder. Raises OLMError if nothing can be done."""
    if isinstance(target, Target):
        return asyncio.run(mirror_into_registry(copies, content.layout, access, progress, at_once))
    if content.layout is not None:
        raise TerminalError("both are folders", hint="one must be in a registry")
    return asyncio.run(mirror_into_layout(copies, target, access, progress, at_once))


def copy_attachments(
    images: Mirrored, content: Content, target: Target | Path, access: Registries
) -> Mirrored:
    """Copies what refers to images, to their platforms, and to what refers to them. OLMError."""
    found, subjects = Mirrored(), Subjects()
    new = subjects.new([*images.digests.items(), *_parts(images)])
    while new:
        done = _copy_attachments(new, content, target, access)
        found.add(done)
        new = subjects.new(_parts(done))
    return found


def _parts(images: Mirrored) -> Iterator[Subject]:
    return ((ref, digest) for ref, parts in images.parts.items() for digest in parts)


def _copy_attachments(
    subjects: Iterable[Subject], content: Content, target: Target | Path, access: Registries
) -> Mirrored:
    wanted = attachments_of(subjects)
    if content.layout is not None:
        layout = Layout(content.layout)
        wanted = {ref: subject for ref, subject in wanted.items() if layout.has(str(ref))}
    copies = [
        Copy(ref, target.place_of(ref) if isinstance(target, Target) else None, subject)
        for ref, subject in wanted.items()
    ]
    done = copy_images(copies, content, target, access, Progress())
    absent = [ref for ref, e in done.failures.items() if isinstance(e, ImageNotFoundError)]
    for ref in absent:
        del done.failures[ref]
    return done


def copy_catalog(
    content: Content, target: Target | Path, access: Registries
) -> tuple[str, Mirrored]:
    """Copies the catalog, after its images. Raises OLMError.

    Where it is now, by digest, and what was copied of it: nothing where it was made anew.
    """
    place = target.place_of(content.catalog) if isinstance(target, Target) else content.catalog
    done = Mirrored()
    if content.records is None:
        copy = Copy(content.catalog, place)
        done = copy_images([copy], content, target, access, Progress())
        for failure in done.failures.values():
            raise failure
        digest = done.digests[content.catalog]
    else:
        digest = _make_catalog(content.records, place, target, access)
    if isinstance(target, Path):
        write_contents(target, str(content.catalog), [str(ref) for ref in content.images])
    return str(place.canonical(digest)), done


def _make_catalog(
    records: Sequence[Record], place: ImageRef, target: Target | Path, access: Registries
) -> str:
    if isinstance(target, Path):
        layout = Layout(target)
        image = _build(layout, records)
        layout.name(image, [str(place)])
        return image.digest
    with tempfile.TemporaryDirectory(prefix="opm-mirror-") as work:
        layout = Layout(Path(work, "layout"))
        image = _build(layout, records)
        workstation.push(layout.root, image, place, access)
        return image.digest


def _build(layout: Layout, records: Sequence[Record]) -> Descriptor:
    with tempfile.TemporaryDirectory(prefix="opm-mirror-catalog-") as folder:
        with Path(folder, "catalog.json").open("wb") as file:
            file.writelines(json_text(each.value) for each in in_order(records))
        return add_catalog(layout, Path(folder), {}, parse_platforms(PLATFORMS))
