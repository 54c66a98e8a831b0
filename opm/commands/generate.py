"""`opm generate dockerfile`."""

from pathlib import Path

import click

from olm_shared.errors import TerminalError
from opm.dockerfile import DEFAULT_IMAGE, dockerfile


@click.group("generate")
def generate() -> None:
    """Generate files for building a catalog."""


@generate.command("dockerfile")
@click.argument("folder", metavar="CATALOG_DIR")
@click.option(
    "-i",
    "--base-image",
    "--binary-image",
    default=DEFAULT_IMAGE,
    show_default=True,
    help="Image that serves the catalog; `scratch` for none.",
)
@click.option(
    "-b", "--builder-image", help="Image of the build stage.  [default: the base image's default]"
)
@click.option(
    "-l", "--extra-labels", multiple=True, metavar="KEY=VALUE", help="Further labels of the image."
)
def generate_dockerfile(
    *, folder: str, base_image: str, builder_image: str | None, extra_labels: tuple[str, ...]
) -> None:
    """Write CATALOG_DIR.Dockerfile beside CATALOG_DIR. An existing file is left alone.

    \b
    Example:
      opm generate dockerfile my-catalog
      podman build . -f my-catalog.Dockerfile -t registry.example.com/my-catalog:latest
    """
    path = Path(folder)
    if not path.is_dir():
        raise TerminalError(f"{folder}: no such directory", hint="give the catalog's root folder")
    text = dockerfile(
        path.absolute().name,
        base_image=base_image,
        builder_image=builder_image or DEFAULT_IMAGE,
        labels=read_labels(extra_labels),
    )
    target = path.absolute().parent / f"{path.absolute().name}.Dockerfile"
    try:
        with target.open("x") as file:
            file.write(text)
    except FileExistsError as error:
        raise TerminalError(
            f"{target} exists already", hint="remove it to have it generated anew"
        ) from error


def read_labels(given: tuple[str, ...]) -> dict[str, str]:
    """The labels of `--extra-labels`. Raises TerminalError."""
    labels = {}
    for text in ",".join(given).split(",") if given else ():
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise TerminalError(f'label "{text}" is none', hint="write key=value")
        labels[key] = value
    return labels
