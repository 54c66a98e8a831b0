"""`olm catalog remove`: removes a catalog, after it has shown who would miss it."""

from collections.abc import Mapping
from typing import Any

import click

from api.objects import KubeObject, metadata, name_of
from api.olm.v1.kinds import CATALOG
from olm_cli.cluster_catalogs.arguments import catalog_argument
from olm_cli.cluster_options import ClusterCommand, cluster_options
from olm_cli.lifecycle.asking import ask_to_delete
from olm_cli.lifecycle.interrupt import run
from olm_cli.lifecycle.options import timeout_option
from olm_cli.output import Output, object_output_option, show, typed_name
from olm_client.cluster_catalogs.dependents import dependent_lines
from olm_client.cluster_catalogs.examining import Examined, examine
from olm_client.cluster_catalogs.waiting import CatalogWait
from olm_client.cluster_catalogs.writing import delete_catalog
from olm_client.reach import ClusterOptions, cluster
from olm_runtime.cli.display import LiveDisplay


@click.command("remove", cls=ClusterCommand)
@catalog_argument
@click.option("--preview", is_flag=True, help="Say who would miss it, and delete nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--wait", is_flag=True, help="Return when it is gone, or fail after --timeout.")
@timeout_option
@cluster_options
@object_output_option
def remove(catalog: str, output: Output, **given: Any) -> None:
    """Remove CATALOG from the cluster. What was installed from it stays.

    Says first which extensions would find no updates without it; then asks.

    \b
    Examples:
      olm catalog remove community --preview
      olm catalog remove community --wait
      olm catalog remove community --yes -o json
    """
    if given["preview"] and (given["yes"] or given["wait"]):
        raise click.UsageError("--preview deletes nothing: leave --yes and --wait out")
    found = examine(catalog, ClusterOptions.of(given))
    names = [typed_name(CATALOG, catalog)]
    if output.is_text:
        _show_dependents(found)
    if given["preview"]:
        if not output.is_text:
            show(found.facts(), output, names)
        return
    if not given["yes"]:
        ask_to_delete(f"delete the catalog {catalog}?")
    run(_delete(found.raw, given), message="stopped; it is being deleted: olm catalog list")
    if not output.is_text:
        show({**found.facts(), "gone": given["wait"]}, output, names)
    else:
        click.echo(f"{catalog} is gone" if given["wait"] else f"{catalog} is being deleted")


def _show_dependents(found: Examined) -> None:
    if found.fault:
        click.echo(f"what {name_of(found.raw)} has is not known: {found.fault}")
        click.echo("by their selectors these extensions may look into it:")
    click.echo("\n".join(dependent_lines(found.dependents)))


async def _delete(raw: KubeObject, given: Mapping[str, Any]) -> None:
    async with cluster(given["reach"]) as kube:
        await delete_catalog(kube, raw)
        if given["wait"]:
            wait = CatalogWait(kube, (name_of(raw),), given["timeout"], LiveDisplay())
            await wait.until_gone(str(metadata(raw)["uid"]))
