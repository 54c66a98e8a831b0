"""`olm classic resolve`: the bundles that a namespace comes to."""

from typing import Any

import click

from olm_classic.dialect import Dialect
from olm_classic.resolve import ResolutionError
from olm_cli.classic.answers import (
    answer,
    bundle_lines,
    data,
    error_data,
    error_lines,
    explanation,
)
from olm_cli.classic.options import world_options
from olm_cli.cluster_options import ClusterCommand
from olm_cli.output import Output, output_option, show
from olm_client.classic.world import read_world
from olm_runtime.plurals import counted


@click.command("resolve", cls=ClusterCommand)
@world_options
@output_option
def resolve_command(output: Output, **options: Any) -> None:
    """Find the bundles that the Subscriptions of a namespace come to; only reads.

    The rules are catalog-operator's. Exit code: 0, or 1 if the namespace does not resolve.

    \b
    Examples:
      olm classic resolve -n operators
      olm classic resolve --files subscription.yaml --catalog community=./catalog
      olm classic resolve --files ./manifests --catalog community=quay.io/example/catalog:v1 -o json
    """
    namespace, dialect = read_world(options), Dialect(options["dialect"])
    found = answer(namespace, dialect)
    if isinstance(found, ResolutionError):
        why = explanation(namespace, found, dialect)
        if output.is_text:
            click.echo("\n".join(error_lines(found, why)))
        else:
            show({"namespace": namespace.name, "error": error_data(found, why)}, output)
        raise SystemExit(1)
    if not output.is_text:
        show({"namespace": namespace.name, **data(found)}, output)
        return
    new = counted(len(found.planned), "bundle")
    click.echo(f"{namespace.name}: {new} to install")
    click.echo("\n".join(bundle_lines(found)))
