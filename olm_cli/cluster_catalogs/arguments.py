"""Arguments that name ClusterCatalogs."""

import click

from olm_cli.catalogs.options import known_catalogs
from olm_cli.kube_names import object_name


def object_names(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    """Names of objects, each once, as callback of an argument. Raises BadParameter."""
    return tuple(dict.fromkeys(str(object_name(ctx, param, value)) for value in values))


catalog_argument = click.argument(
    "catalog", callback=object_name, shell_complete=known_catalogs, metavar="CATALOG"
)
catalogs_argument = click.argument(
    "catalogs",
    nargs=-1,
    required=True,
    callback=object_names,
    shell_complete=known_catalogs,
    metavar="CATALOG...",
)
