"""`olm cluster release extract`: the manifests of a release as files."""

from pathlib import Path
from typing import Any

import click

from cluster_version.payload.release_folders import RELEASE_FOLDER
from cluster_version.payload.summary import summary
from olm_cli.registry_options import registry_options
from olm_client.bundle_files import registries
from olm_client.cluster.release.reading import read_release_image, release_errors
from olm_runtime.errors import of_system


@click.command("extract")
@click.argument("source", metavar="IMAGE")
@click.option(
    "--to",
    "folder",
    default=".",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the files; default: this one.",
)
@registry_options
def extract(source: str, folder: Path, **given: Any) -> None:
    """Write the manifests of the release IMAGE, its images and its metadata as files.

    \b
    Examples:
      olm cluster release extract registry.example.com/product:1.0.1 --to release
    """
    found = read_release_image(source, registries(given))
    with release_errors(source):
        created = summary(found.files)["created"]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, content in found.files.items():
            parent, _, name = path.rpartition("/")
            if parent == RELEASE_FOLDER:
                (folder / name).write_bytes(content)
    except OSError as error:
        raise of_system(error) from error
    digest = f"digest {found.digest}" if found.digest else source
    click.echo(f"Extracted release payload from {digest} created at {created}")
