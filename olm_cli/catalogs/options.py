"""`--catalog`: the options by which commands name catalogs, and its completion."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from olm_cli.catalogs.at_once import listed_at_once
from olm_cli.cluster_options import cluster_options

if TYPE_CHECKING:
    from olm_client.catalogs.sources import Offer

Command = TypeVar("Command", bound=Callable[..., Any])

_WHAT = "A catalog: the name of a ClusterCatalog, a folder, or an image."


def known_catalogs(
    ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The ClusterCatalogs whose names begin so, where a plain kubeconfig leads to them.

    File names, where a path was begun.
    """
    from api.olm.v1 import names

    if "/" in incomplete or incomplete.startswith("."):
        return [CompletionItem(incomplete, type="dir")]
    taken = ctx.params.get("catalogs") or ()
    found = listed_at_once(ctx, names.CLUSTER_CATALOG) or ()
    images = {each["metadata"]["name"]: _image(each) for each in found}
    return [
        CompletionItem(name, help=image)
        for name, image in sorted(images.items())
        if name.startswith(incomplete) and name not in taken
    ]


def _image(raw: dict[str, Any]) -> str:
    source = (raw.get("spec") or {}).get("source") or {}
    return str((source.get("image") or {}).get("ref") or "")


catalogs_option = click.option(
    "--catalog",
    "catalogs",
    multiple=True,
    metavar="CATALOG",
    shell_complete=known_catalogs,
    help=f"{_WHAT} May be repeated. Default: all of the cluster.",
)
"""For commands that read catalogs."""

catalog_option = click.option(
    "--catalog",
    metavar="CATALOG",
    shell_complete=known_catalogs,
    help=f"{_WHAT} Default: all of the cluster. Only install --dry-run takes folders and images.",
)
"""For commands that have an extension take one catalog of the cluster."""


def catalog_options(command: Command) -> Command:
    """Adds the options that say which catalogs are meant and how they are reached."""
    from olm_cli.registry_options import registry_options

    return catalogs_option(cluster_options(registry_options(command)))


def source_options(command: Command) -> Command:
    """The same without `--catalog`, for commands whose arguments are catalogs."""
    from olm_cli.registry_options import registry_options

    return cluster_options(registry_options(command))


def warn(offers: Sequence["Offer"]) -> None:
    """Tells of catalogs that could not be read, on standard error."""
    for offer in offers:
        if offer.fault is not None:
            click.echo(f"warning: {offer.name}: {offer.fault.message}", err=True)
            if offer.fault.hint:
                click.echo(f"hint: {offer.fault.hint}", err=True)
