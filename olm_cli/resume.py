"""`olm resume`: has operator-controller go on with an extension."""

from collections.abc import Mapping
from typing import Any

import click

from api.olm.v1.kinds import EXTENSION
from olm_cli.catalogs.extensions import extension_argument
from olm_cli.cluster_options import ClusterCommand, reach_options
from olm_cli.lifecycle.interrupt import run
from olm_cli.lifecycle.options import timeout_option
from olm_cli.output import Output, object_output_option, show, typed_name
from olm_client.lifecycle.overview import extension_facts
from olm_client.lifecycle.suspending import NOT_SUSPENDED, set_suspension
from olm_client.lifecycle.waiting import Wait
from olm_client.reach import cluster
from olm_runtime.cli.display import LiveDisplay


@click.command("resume", cls=ClusterCommand)
@extension_argument
@click.option("--wait", is_flag=True, help="Return when nothing is left to do.")
@timeout_option
@reach_options
@object_output_option
def resume(extension: str, output: Output, **given: Any) -> None:
    """Have operator-controller go on with EXTENSION, after olm suspend.

    It resolves, updates and restores at once. olm plan EXTENSION tells beforehand what it would do.

    \b
    Examples:
      olm plan argocd && olm resume argocd --wait
      olm resume argocd
    """
    message = f"stopped; it goes on all the same: olm status {extension}"
    found = run(_resume(extension, given), message=message)
    if not output.is_text:
        show(found, output, [typed_name(EXTENSION, extension)])
    elif not found["changed"]:
        click.echo(f"{extension} is not suspended")
    elif not given["wait"]:
        click.echo(f"{extension} is resumed; see how it goes: olm status {extension}")
    if output.is_text and given["wait"]:
        click.echo(f"{extension}: {found['bundle']} is installed")


async def _resume(extension: str, given: Mapping[str, Any]) -> dict[str, Any]:
    async with cluster(given["reach"]) as kube:
        raw, changed = await set_suspension(kube, extension, NOT_SUSPENDED)
        if given["wait"]:
            wait = Wait(kube, extension, given["timeout"], LiveDisplay())
            raw = await wait.until_resumed()
        return {**extension_facts(raw), "changed": changed}
