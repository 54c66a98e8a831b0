"""`olm catalog`: the catalogs of a cluster."""

from collections.abc import Mapping
from types import MappingProxyType

import click

from olm_cli.command_shapes import quick_command
from olm_runtime.cli.command_line import Lazy, LazyGroup

_HERE = "olm_cli.cluster_catalogs"

COMMANDS: Mapping[str, Lazy] = MappingProxyType(
    {
        "add": Lazy(f"{_HERE}.add", "add", "Add a catalog image to the cluster."),
        "disable": Lazy(
            f"{_HERE}.availability", "disable", "Take catalogs out of use, and keep them."
        ),
        "enable": Lazy(f"{_HERE}.availability", "enable", "Take catalogs into use again."),
        "list": Lazy(f"{_HERE}.listing", "list_command", "List the catalogs and how they do."),
        "refresh": Lazy(f"{_HERE}.refresh", "refresh", "Look for new content at once."),
        "remove": Lazy(f"{_HERE}.remove", "remove", "Remove a catalog from the cluster."),
        "show": Lazy(f"{_HERE}.showing", "show_command", "Show all there is to know of a catalog."),
    }
)


@click.group(cls=LazyGroup, lazily=COMMANDS, completing=quick_command)
def catalog() -> None:
    """Work with the catalogs of a cluster, from which extensions are installed.

    \b
    Examples:
      olm catalog add operatorhubio quay.io/operatorhubio/catalog:latest --wait
      olm catalog list
      olm catalog refresh operatorhubio
      olm catalog remove operatorhubio
    """
