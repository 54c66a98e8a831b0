"""`olm catalog list`: the catalogs of a cluster and how they do."""

import click

from api.olm.v1.kinds import CATALOG
from olm_cli.cluster_catalogs.text import TITLES, row
from olm_cli.cluster_options import ClusterCommand, reach_options
from olm_cli.output import Output, show, table_output_option, typed_name
from olm_cli.table import table
from olm_client.cluster_catalogs.facts import facts_of
from olm_client.cluster_catalogs.reading import read_catalogs
from olm_client.reach import Reach, cluster
from olm_runtime.cli.async_work import run_async
from olm_runtime.clocks import utc_now


@click.command("list", cls=ClusterCommand)
@reach_options
@table_output_option
def list_command(reach: Reach, output: Output) -> None:
    """List the catalogs of the cluster: state, priority, image, digest, what hinders.

    POLL is how often the tag is looked at, UNPACKED how long ago what is served was new.

    \b
    Examples:
      olm catalog list
      olm catalog list -o json | jq -r '.catalogs[] | select(.phase != "Serving") | .name'
    """
    found = run_async(_read(reach))
    if not output.is_text:
        names = (typed_name(CATALOG, str(facts["name"])) for facts in found)
        show({"catalogs": found}, output, names)
        return
    if not found:
        click.echo("no catalogs; olm catalog add NAME IMAGE adds one")
        return
    at = utc_now()
    click.echo("\n".join(table(TITLES, [row(facts, at) for facts in found])))


async def _read(reach: Reach) -> list[dict[str, object]]:
    async with cluster(reach) as kube:
        return [facts_of(raw) for raw in await read_catalogs(kube)]
