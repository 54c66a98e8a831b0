"""`olm catalog add`: has catalogd serve a catalog image."""

from collections.abc import Mapping
from typing import Any

import click

from api.objects import KubeObject, name_of
from api.olm.v1.clustercatalog import HIGHEST_PRIORITY, LOWEST_PRIORITY
from olm_cli.cluster_options import ClusterCommand, reach_options
from olm_cli.kube_names import object_name
from olm_cli.lifecycle.interrupt import run
from olm_cli.lifecycle.options import timeout_option
from olm_cli.output import DATA, TEXT, YAML, Format, Output, output_of, show, typed_names
from olm_client.cluster_catalogs.adding import DEFAULT_POLL_MINUTES, new_catalog, write_new
from olm_client.cluster_catalogs.facts import facts_of
from olm_client.cluster_catalogs.waiting import CatalogWait
from olm_client.reach import cluster
from olm_runtime.cli.display import LiveDisplay
from olm_runtime.cli.values import parse_duration

_MINUTE = 60


def _minutes(text: str) -> int:
    """Minutes of a duration, 0 for never. Raises BadParameter."""
    seconds = parse_duration(text)
    if seconds % _MINUTE:
        raise click.BadParameter(f"{text} is not in whole minutes; say 10m, 2h, or 0 for never")
    return int(seconds) // _MINUTE


@click.command("add", cls=ClusterCommand)
@click.argument("name", callback=object_name)
@click.argument("image")
@click.option(
    "--poll-interval",
    "poll_minutes",
    type=_minutes,
    metavar="DURATION",
    help="How often the tag is looked at, such as 30m; 0 is never.  "
    f"[default: {DEFAULT_POLL_MINUTES}m, of a digest never]",
)
@click.option(
    "--priority",
    type=click.IntRange(LOWEST_PRIORITY, HIGHEST_PRIORITY),
    default=0,
    show_default=True,
    metavar="NUMBER",
    help="Of catalogs that have a package, the one with the highest counts.",
)
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="KEY=VALUE",
    help="For selectors of extensions; may be repeated.",
)
@click.option("--dry-run", is_flag=True, help="Print the object, and write nothing.")
@click.option("--wait", is_flag=True, help="Return when it is served, or fail after --timeout.")
@timeout_option
@reach_options
@output_of(
    Format.TEXT, Format.NAME, *DATA, default=None, note="Default: text; with --dry-run yaml."
)
def add(name: str, image: str, output: Output | None, **given: Any) -> None:
    """Add the catalog IMAGE to the cluster as the ClusterCatalog NAME.

    catalogd pulls it, and extensions are installed from it. One that is there already and says the
    same stays as it is; one that says something else is refused.

    \b
    Examples:
      olm catalog add operatorhubio quay.io/operatorhubio/catalog:latest --wait
      olm catalog add team registry.example.com/team/catalog:v1 --poll-interval 1h --priority 10
      olm catalog add team registry.example.com/team/catalog:v1 --label tier=gold
      olm catalog add team registry.example.com/team/catalog:v1 --dry-run > catalog.yaml
    """
    if given["dry_run"] and given["wait"]:
        raise click.UsageError("give --dry-run or --wait")
    if given["dry_run"] and output is not None and output.is_text:
        raise click.UsageError("the object is printed as yaml or json")
    wanted = new_catalog(name, image, given)
    if given["dry_run"]:
        show(wanted, output or YAML, typed_names([wanted]))
        return
    output = output or TEXT
    found = run(_add(wanted, given), message=f"stopped; it stays: olm catalog show {name}")
    if not output.is_text:
        show(found, output, typed_names([wanted]))
        return
    click.echo(f"clustercatalog {name}: {found['result']}")
    if given["wait"]:
        click.echo(f"it is served; see what it has: olm search WORDS --catalog {name}")
    else:
        click.echo(f"see how it goes: olm catalog show {name}")


async def _add(wanted: KubeObject, given: Mapping[str, Any]) -> dict[str, Any]:
    """Writes it and waits if asked to; the result as data."""
    async with cluster(given["reach"]) as kube:
        found, result = await write_new(kube, wanted)
        if given["wait"]:
            name = name_of(wanted)
            wait = CatalogWait(kube, (name,), given["timeout"], LiveDisplay())
            found = (await wait.until_served())[name]
        return {**facts_of(found), "result": result}
