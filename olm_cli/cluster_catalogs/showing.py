"""`olm catalog show`: all there is to know of a catalog of the cluster."""

from typing import Any

import click

from api.olm.v1.kinds import CATALOG
from olm_cli.cluster_catalogs.arguments import catalog_argument
from olm_cli.cluster_catalogs.text import lines
from olm_cli.cluster_options import ClusterCommand, cluster_options
from olm_cli.output import Output, object_output_option, show, typed_name
from olm_client.cluster_catalogs.dependents import dependent_lines
from olm_client.cluster_catalogs.examining import examine
from olm_client.reach import ClusterOptions
from olm_runtime.clocks import utc_now


@click.command("show", cls=ClusterCommand)
@catalog_argument
@cluster_options
@object_output_option
def show_command(catalog: str, output: Output, **options: Any) -> None:
    """Show CATALOG: its state, image, digest, age, packages, conditions, and what hinders.

    Tells also which extensions have a package of it. Their number and that of its packages need the
    rights that olm search needs.

    \b
    Examples:
      olm catalog show operatorhubio
      olm catalog show operatorhubio -o json | jq .packages
    """
    found = examine(catalog, ClusterOptions.of(options))
    facts = found.facts()
    if not output.is_text:
        show(facts, output, [typed_name(CATALOG, catalog)])
        return
    click.echo("\n".join(lines(facts, utc_now())))
    if found.fault:
        click.echo(f"its packages are not known: {found.fault}")
    else:
        click.echo("\n".join(dependent_lines(found.dependents)))
