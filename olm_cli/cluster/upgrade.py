"""`olm cluster upgrade`: shows the updates of a cluster, or asks for one."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from cluster_version.client_output.facts import answer_facts, overview_facts
from cluster_version.client_output.upgrade_request import Request, answer, checked
from cluster_version.client_output.upgrade_view import overview
from olm_cli.cluster.warning import warn
from olm_cli.cluster_options import ClusterCommand, reach_options
from olm_cli.lifecycle.interrupt import run
from olm_cli.output import Output, output_option, show
from olm_client.cluster.changing import change
from olm_client.cluster.reading import version_at
from olm_client.reach import Reach

Command = TypeVar("Command", bound=Callable[..., Any])


def _allow(name: str, what: str) -> Callable[[Command], Command]:
    return click.option(f"--allow-{name}", is_flag=True, help=f"Ask for it, too, {what}.")


@click.command("upgrade", cls=ClusterCommand)
@click.option("--include-not-recommended", is_flag=True, help="Show updates with risks, too.")
@click.option("--to", default="", metavar="VERSION", help="Ask for a version.")
@click.option("--to-image", default="", metavar="IMAGE", help="Ask for a release by its digest.")
@click.option("--to-latest", is_flag=True, help="Ask for the newest recommended version.")
@click.option("--to-multi-arch", is_flag=True, help="Ask for the release of all architectures.")
@click.option("--clear", is_flag=True, help="Take back what was asked for.")
@click.option("--force", is_flag=True, help="Pass over signatures and preconditions.")
@_allow("explicit-upgrade", "if the image is none of the updates")
@_allow("upgrade-with-warnings", "if the cluster is failing, updating or invalid")
@_allow("not-recommended", "if a known risk of it concerns the cluster")
@reach_options
@output_option
def upgrade(include_not_recommended: bool, reach: Reach, output: Output, **given: Any) -> None:
    """Show the version of the cluster and its updates, or ask for an update.

    \b
    Examples:
      olm cluster upgrade
      olm cluster upgrade --include-not-recommended
      olm cluster upgrade --to 4.10.26
      olm cluster upgrade --clear
      olm cluster upgrade -o json | jq -r '.updates[].version'
    """
    request = Request(**given)
    checked(request, warn)
    if request.asks:
        done = run(change(reach, lambda live: answer(live, request, warn)))
        text, facts = done.text, answer_facts(done)
    else:
        live = run(version_at(reach))
        text = overview(live, warn, not_recommended=include_not_recommended)
        facts = overview_facts(live, warn)
    if output.is_text:
        click.echo(text, nl=False)
    else:
        show(facts, output)
