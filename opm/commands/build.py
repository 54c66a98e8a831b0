"""`opm build`: images of catalogs and bundles, without a container engine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import orjson

from olm_runtime.errors import TerminalError
from olm_runtime.images.oci import Descriptor, Platform
from olm_runtime.images.reference import ImageRef, parse_ref, parse_tag
from olm_runtime.registry import workstation
from opm.commands.generate import read_labels
from opm.commands.registries import registry_options
from opm.commands.validate import faults_of, show
from opm.image import parse_platforms
from opm.io.building import PLATFORMS, add_bundle, add_catalog, check_bundle
from opm.io.layout import Layout, layout_in
from opm.io.references import is_bundle_folder
from opm.io.serving import add_serving_catalog

BUNDLE, CATALOG = "bundle", "catalog"


@dataclass(frozen=True, slots=True)
class Content:
    """What an image is made of; `base` is the image with the program that serves a catalog."""

    folder: Path
    kind: str
    labels: Mapping[str, str]
    platforms: Sequence[Platform]
    base: ImageRef | None


@click.command("build")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("-t", "--tag", "tags", multiple=True, required=True, help="Reference of the image.")
@click.option("--push", is_flag=True, help="Push it to the registry of its reference.")
@click.option(
    "-o",
    "--oci-layout",
    metavar="LAYOUT",
    type=click.Path(path_type=Path),
    help="Write it to an OCI image layout, a folder, too.",
)
@click.option("--platform", default=PLATFORMS, show_default=True, help="What it is for.")
@click.option(
    "-l", "--extra-labels", multiple=True, metavar="KEY=VALUE", help="Further labels of the image."
)
@click.option(
    *("-i", "--base-image"),
    metavar="REF",
    help="Image with /bin/opm below a catalog, which serves it then.",
)
@click.option("--no-validate", is_flag=True, help="Build a folder with faults, too.")
@click.option(
    "--output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="References line by line, or what was made as data.",
)
@registry_options
@click.pass_obj
def build(  # noqa: PLR0913 - one parameter an option
    registries: dict[str, Any],
    *,
    folder: Path,
    tags: tuple[str, ...],
    push: bool,
    oci_layout: Path | None,
    platform: str,
    extra_labels: tuple[str, ...],
    base_image: str | None,
    no_validate: bool,
    output: str,
) -> None:
    """Make an image of a catalog's or bundle's folder and print its reference by digest.

    A folder with manifests/ and metadata/ is a bundle; its labels come from
    metadata/annotations.yaml. Any other is a catalog. The same files give the same digest.

    The image holds the files alone: it is for readers of catalogs, such as catalogd. With
    --base-image a catalog serves itself, as the pods of OLM Classic do; such an image is for
    those of the platforms that its base is for.

    \b
    Examples:
      opm build catalog -t registry.example.com/my-catalog:latest --push
      opm build ./bundle -t registry.example.com/my-operator-bundle:v1.0.0 --push
      opm build catalog -t registry.example.com/my-catalog:latest --push --output json
      opm build catalog -t my.example/catalog:v1 --push -i quay.io/operator-framework/opm:latest
      opm build catalog -t my.example/catalog:v1 -o layout && skopeo copy oci:layout:v1 ...
    """
    refs = [parse_tag(tag) for tag in tags]
    platforms, labels = parse_platforms(platform), read_labels(extra_labels)
    if not push and oci_layout is None:
        raise TerminalError(
            "the image would go nowhere", hint="give --push, or a folder with --oci-layout"
        )
    kind = _kind_of(folder, validate=not no_validate)
    if base_image and kind == BUNDLE:
        raise click.UsageError("--base-image is for catalogs")
    content = Content(
        folder, kind, labels, platforms, parse_ref(base_image) if base_image else None
    )
    reach = workstation.Registries(**registries)
    with layout_in(oci_layout) as layout:
        image = _add(layout, content, reach)
        layout.name(image, [ref.tag for ref in refs])
        for ref in refs:
            if push:
                workstation.push(layout.root, image, ref, reach)
            if output == "text":
                click.echo(str(ref.canonical(image.digest)))
    if output == "json":
        click.echo(_as_json(image, kind, refs, pushed=push))


def _kind_of(folder: Path, *, validate: bool) -> str:
    """What a folder has, with what is wrong with it printed. Errors: those of `_check`."""
    kind = BUNDLE if is_bundle_folder(folder) else CATALOG
    if not folder.is_dir():
        raise TerminalError(f"{folder}: no such directory", hint="give the root of a catalog")
    if validate:
        _check(folder, is_bundle=kind == BUNDLE)
    return kind


def _add(layout: Layout, content: Content, reach: workstation.Registries) -> Descriptor:
    folder, labels, platforms = content.folder, content.labels, content.platforms
    if content.base is not None:
        below = workstation.fetch_whole(content.base, layout.place, reach)
        return add_serving_catalog(layout, folder, labels, platforms, below)
    add = add_bundle if content.kind == BUNDLE else add_catalog
    return add(layout, folder, labels, platforms)


def _as_json(image: Descriptor, kind: str, refs: Sequence[ImageRef], *, pushed: bool) -> bytes:
    made = {"digest": image.digest, "size": image.size, "mediaType": image.media_type}
    images = [str(ref.canonical(image.digest)) for ref in refs]
    shown = {"kind": kind, **made, "images": images, "pushed": pushed}
    return orjson.dumps(shown, option=orjson.OPT_INDENT_2)


def _check(folder: Path, *, is_bundle: bool) -> None:
    """Prints what is wrong. Raises TerminalError or SystemExit if that is more than warnings."""
    if is_bundle:
        for remark in check_bundle(folder):
            click.echo(f"{folder}: {remark}", err=True)
        return
    faults = faults_of(folder)
    refused = [fault for fault in faults if not fault.warning]
    show(faults, refused, folder)
    if refused:
        click.echo("hint: correct them, or build it all the same with --no-validate", err=True)
        raise SystemExit(1)
