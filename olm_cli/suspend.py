"""`olm suspend`: has operator-controller leave an extension as it is, whatever happens."""

from collections.abc import Mapping
from typing import Any

import click

from api.olm.v1.kinds import EXTENSION
from olm_cli.catalogs.extensions import extension_argument
from olm_cli.cluster_options import ClusterCommand, reach_options
from olm_cli.lifecycle.interrupt import run
from olm_cli.output import Output, object_output_option, show, typed_name
from olm_client.lifecycle.overview import extension_facts
from olm_client.lifecycle.suspending import set_suspension, suspension_annotations, user_of
from olm_client.lifecycle.waiting import Wait
from olm_client.reach import cluster
from olm_runtime.cli.display import LiveDisplay
from olm_runtime.cli.values import parse_patience
from operator_controller.apply.suspension import suspension_of


@click.command("suspend", cls=ClusterCommand)
@extension_argument
@click.option("--reason", default="", metavar="TEXT", help="Why; everybody sees it in the status.")
@click.option(
    "--timeout",
    type=parse_patience,
    default="1m",
    show_default=True,
    metavar="DURATION",
    help="How long to wait until nothing is written any more.",
)
@reach_options
@object_output_option
def suspend(extension: str, output: Output, **given: Any) -> None:
    """Have EXTENSION left as it is: watched and told, but never written.

    No update, no new revision, no restoring of what others change or delete, until olm resume.
    Health and changed objects stay in its status. Deleting it works as ever.

    Sets the annotation olm.operatorframework.io/suspend; a repository may set it too. Returns when
    operator-controller has taken note: from then on it writes nothing of the extension.

    \b
    Examples:
      olm suspend argocd --reason 'moving its database'
      olm suspend argocd -o json
    """
    message = f"stopped; it stays suspended: olm resume {extension}"
    found = run(_suspend(extension, given), message=message)
    if output.is_text:
        click.echo(f"{extension}: {found['message'] or 'suspended'}")
        click.echo(f"to go on: olm resume {extension}")
    else:
        show(found, output, [typed_name(EXTENSION, extension)])


async def _suspend(extension: str, given: Mapping[str, Any]) -> dict[str, Any]:
    async with cluster(given["reach"]) as kube:
        by = await user_of(kube)
        wanted = suspension_annotations(given["reason"], by)
        raw, _ = await set_suspension(kube, extension, wanted)
        suspension = suspension_of(raw)
        wait = Wait(kube, extension, given["timeout"], LiveDisplay())
        return extension_facts(await wait.until_suspended(suspension.text if suspension else ""))
