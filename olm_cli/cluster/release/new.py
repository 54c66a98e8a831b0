"""`olm cluster release new`: a release image of folders of manifests."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from cluster_version.payload.building import Draft, files_of, ignored
from cluster_version.payload.release import ReleaseError
from olm_cli.registry_options import registry_options
from olm_client.bundle_files import registries
from olm_client.cluster.release.base_image import add_on_top
from olm_client.cluster.release.folders import components, images, read_files
from olm_runtime.clocks import utc_now
from olm_runtime.errors import TerminalError
from olm_runtime.images.oci import Descriptor
from olm_runtime.images.reference import parse_ref, parse_tag
from olm_runtime.registry import workstation
from olm_runtime.registry.layout_files import blob_path
from opm.image import parse_platforms
from opm.io.building import PLATFORMS, add_image
from opm.io.layout import Layout, layout_in

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


@click.command("new")
@click.argument("folders", metavar="DIR...", nargs=-1, required=True)
@click.option("--version", required=True, help="Version of the release.")
@click.option(
    "-t", "--tag", "tags", multiple=True, required=True, help="Reference of the image, with a tag."
)
@click.option("--push", is_flag=True, help="Push it to the registry of its reference.")
@click.option(
    "--oci-layout",
    metavar="LAYOUT",
    type=click.Path(path_type=Path),
    help="Write it to an OCI image layout, a folder, too.",
)
@click.option("--image", "given", multiple=True, metavar="NAME=IMAGE", help="An image by digest.")
@click.option(
    "--image-references", metavar="FILE", type=_FILE, help="An ImageStream that names the images."
)
@click.option("--previous", multiple=True, metavar="VERSION", help="A version to update from.")
@click.option("--metadata", multiple=True, metavar="KEY=VALUE", help="Said of it, such as url.")
@click.option("--from", "base", metavar="IMAGE", help="Image of the program that applies it.")
@click.option(
    "--operator-manifests", metavar="DIR", type=_FOLDER, help="Manifests of that program."
)
@click.option("--platform", help=f"What it is for; default: what --from is for, else {PLATFORMS}.")
@registry_options
def new(**given: Any) -> None:
    """Make a release image of folders of manifests and print its reference by digest.

    Each DIR has the manifests of a component, whose name it has (else say NAME=DIR), or a folder
    for each component. Manifests named 0000_RUNLEVEL_COMPONENT_NAME.yaml are applied in that
    order, others at runlevel 50. Where they say 0.0.1-snapshot, they get the version. A file
    image-references, an ImageStream, says which images in them stand for which of the release.

    The time of the release is that of SOURCE_DATE_EPOCH, else now.

    \b
    Examples:
      olm cluster release new --version 1.0.1 ./alpha ./beta -t registry.example.com/p:1.0.1 --push
      olm cluster release new --version 1.0.1 ./components --previous 1.0.0 \\
        --image alpha=registry.example.com/alpha@sha256:... -t registry.example.com/p:1.0.1 --push
    """
    refs = [parse_tag(tag) for tag in given["tags"]]
    if not given["push"] and given["oci_layout"] is None:
        hint = "give --push, or a folder with --oci-layout"
        raise TerminalError("the image would go nowhere", hint=hint)
    if given["base"] and given["platform"]:
        raise TerminalError("--platform is that of the image of --from", hint="give one of them")
    files = _files(given)
    access = registries(given)
    with layout_in(given["oci_layout"]) as layout, _written(files) as paths:
        image = _add(layout, paths, access, base=given["base"], platform=given["platform"])
        layout.name(image, [ref.tag for ref in refs])
        for ref in refs:
            if given["push"]:
                workstation.push(layout.root, image, ref, access)
            click.echo(str(ref.canonical(image.digest)))


def _files(given: Mapping[str, Any]) -> dict[str, bytes]:
    """The files of the release. Warns of manifests that no cluster would have.

    Raises TerminalError.
    """
    operator = given["operator_manifests"]
    found = tuple(components(given["folders"]))
    draft = Draft(
        version=given["version"],
        created=_created(os.environ.get("SOURCE_DATE_EPOCH")),
        components=found,
        images=images(given["image_references"], _pairs("--image", given["given"])),
        operator=read_files(operator) if operator else {},
        previous=given["previous"],
        metadata=_pairs("--metadata", given["metadata"]),
    )
    try:
        files = files_of(draft)
    except ReleaseError as error:
        raise TerminalError(error.message, hint=error.hint) from error
    for name in ignored(found):
        click.echo(f"warning: {name} has no annotations: no cluster applies it", err=True)
    return files


def _created(epoch: str | None) -> datetime:
    if epoch is None:
        return utc_now()
    if not epoch.isascii() or not epoch.isdigit():
        raise TerminalError(f"SOURCE_DATE_EPOCH is no number of seconds: {epoch}")
    return datetime.fromtimestamp(int(epoch), UTC)


def _pairs(option: str, given: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise TerminalError(f"{option} {text}: it has no name", hint="write NAME=VALUE")
        found[name] = value
    return found


def _add(
    layout: Layout,
    files: Mapping[str, Path],
    access: workstation.Registries,
    *,
    base: str | None,
    platform: str | None,
) -> Descriptor:
    if base is None:
        return add_image(layout, files, {}, parse_platforms(platform or PLATFORMS))
    found = workstation.fetch_whole(
        parse_ref(base), lambda digest: blob_path(layout.root, digest), access
    )
    return add_on_top(layout, found, files)


@contextmanager
def _written(files: Mapping[str, bytes]) -> Iterator[dict[str, Path]]:
    """The files on disk, as layers are made of them, by their path in the image."""
    with tempfile.TemporaryDirectory(prefix="olm-release-") as temporary:
        paths = {path: Path(temporary, path) for path in files}
        for path, place in paths.items():
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(files[path])
        yield paths
