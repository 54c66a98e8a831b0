"""`opm generate dockerfile`."""

from pathlib import Path

import click

from olm_runtime.errors import TerminalError
from opm.dockerfile import DEFAULT_IMAGE, dockerfile


@click.group("generate")
def generate() -> None:
    """Generate files for building a catalog."""


@generate.command("dockerfile")
@click.argument("folder", metavar="CATALOG_DIR")
@click.option(
    *("-i", "--base-image"),
    help=f"Image that serves the catalog; `scratch` for none.  [default: {DEFAULT_IMAGE}]",
)
@click.option(
    "-b", "--builder-image", help=f"Image of the build stage.  [default: {DEFAULT_IMAGE}]"
)
@click.option("--binary-image", help="Image of both, the older way to name them.")
@click.option(
    "-l", "--extra-labels", multiple=True, metavar="KEY=VALUE", help="Further labels of the image."
)
def generate_dockerfile(
    *,
    folder: str,
    base_image: str | None,
    builder_image: str | None,
    binary_image: str | None,
    extra_labels: tuple[str, ...],
) -> None:
    """Write CATALOG_DIR.Dockerfile next to CATALOG_DIR. An existing file is left alone.

    \b
    Example:
      opm generate dockerfile my-catalog
      podman build . -f my-catalog.Dockerfile -t registry.example.com/my-catalog:latest
    """
    path = Path(folder)
    if not path.is_dir():
        raise TerminalError(f"{folder}: no such directory", hint="give the catalog's root folder")
    if base_image and binary_image:
        raise click.UsageError("give --base-image or --binary-image, not both")
    if builder_image == "scratch":
        raise TerminalError('invalid builder image: "scratch"', hint="it has to bring /bin/opm")
    text = dockerfile(
        path.absolute().name,
        base_image=base_image or binary_image or DEFAULT_IMAGE,
        builder_image=builder_image or binary_image or DEFAULT_IMAGE,
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
