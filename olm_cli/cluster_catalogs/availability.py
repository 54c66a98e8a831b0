"""`olm catalog disable` and `enable`: whether catalogs are used."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from api.objects import name_of
from api.olm.v1.clustercatalog import AvailabilityMode
from api.olm.v1.kinds import CATALOG
from olm_cli.cluster_catalogs.arguments import catalogs_argument
from olm_cli.cluster_options import ClusterCommand, reach_options
from olm_cli.lifecycle.interrupt import run
from olm_cli.lifecycle.options import timeout_option
from olm_cli.output import Output, object_output_option, show, typed_name
from olm_client.cluster_catalogs.facts import facts_of
from olm_client.cluster_catalogs.reading import named, read_catalogs
from olm_client.cluster_catalogs.waiting import CatalogWait
from olm_client.cluster_catalogs.writing import patch_catalog
from olm_client.reach import cluster
from olm_runtime.cli.display import LiveDisplay

Command = TypeVar("Command", bound=Callable[..., Any])

Facts = dict[str, Any]


def _options(command: Command) -> Command:
    wait = click.option(
        "--wait", is_flag=True, help="Return when it has come into effect, or fail after --timeout."
    )
    return catalogs_argument(wait(timeout_option(reach_options(object_output_option(command)))))


@click.command("disable", cls=ClusterCommand)
@_options
def disable(catalogs: tuple[str, ...], output: Output, **given: Any) -> None:
    """Take each CATALOG out of use, as if it were not there, and keep its ClusterCatalog.

    What is installed from it stays, and finds no updates meanwhile. Its content is removed from
    catalogd.

    \b
    Examples:
      olm catalog disable operatorhubio
      olm catalog disable community certified --wait
    """
    _switch(catalogs, AvailabilityMode.UNAVAILABLE, output, given)


@click.command("enable", cls=ClusterCommand)
@_options
def enable(catalogs: tuple[str, ...], output: Output, **given: Any) -> None:
    """Take each CATALOG into use again; its image is pulled anew.

    \b
    Examples:
      olm catalog enable operatorhubio --wait
    """
    _switch(catalogs, AvailabilityMode.AVAILABLE, output, given)


def _switch(
    catalogs: Sequence[str], mode: AvailabilityMode, output: Output, given: Mapping[str, Any]
) -> None:
    found = run(
        _set(catalogs, mode, given), message="stopped; what was set stays: olm catalog list"
    )
    if not output.is_text:
        show({"catalogs": found}, output, (typed_name(CATALOG, name) for name in catalogs))
        return
    done = "enabled" if mode is AvailabilityMode.AVAILABLE else "disabled"
    for facts in found:
        said = f"is {done}" if facts["changed"] else f"was {done} already"
        click.echo(f"{facts['name']} {said}")


async def _set(
    catalogs: Sequence[str], mode: AvailabilityMode, given: Mapping[str, Any]
) -> list[Facts]:
    """The catalogs afterwards; `changed` says which were otherwise."""
    async with cluster(given["reach"]) as kube:
        every = await read_catalogs(kube)
        chosen = [named(name, every) for name in catalogs]
        changed = [raw for raw in chosen if raw["spec"].get("availabilityMode") != mode]
        patch = {"spec": {"availabilityMode": mode.value}}
        found = {name_of(raw): raw for raw in chosen}
        for raw in changed:
            found[name_of(raw)] = await patch_catalog(kube, raw, patch)
        if given["wait"]:
            wait = CatalogWait(kube, catalogs, given["timeout"], LiveDisplay())
            served = mode is AvailabilityMode.AVAILABLE
            found = await (wait.until_served() if served else wait.until_off())
        names = {name_of(raw) for raw in changed}
        return [{**facts_of(found[name]), "changed": name in names} for name in catalogs]
