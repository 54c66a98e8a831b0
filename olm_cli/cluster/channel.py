"""`olm cluster channel`: has a cluster take its updates from another channel."""

import click

from cluster_version.client_output.channel_request import channel_answer
from cluster_version.client_output.facts import answer_facts
from olm_cli.cluster.warning import warn
from olm_cli.cluster_options import ClusterCommand, reach_options
from olm_cli.lifecycle.interrupt import run
from olm_cli.output import Output, output_option, show
from olm_client.cluster.changing import change
from olm_client.reach import Reach


@click.command("channel", cls=ClusterCommand)
@click.argument("name", default="")
@click.option(
    "--allow-explicit-channel",
    is_flag=True,
    help="Take a channel, too, that the running release is not known to be in.",
)
@reach_options
@output_option
def channel(name: str, allow_explicit_channel: bool, reach: Reach, output: Output) -> None:
    """Have the cluster take its updates from the channel NAME; without NAME from none.

    \b
    Examples:
      olm cluster channel stable-4.11
      olm cluster channel
    """
    answer = run(
        change(
            reach, lambda live: channel_answer(live, name, warn, explicit=allow_explicit_channel)
        )
    )
    if output.is_text:
        click.echo(answer.text, nl=False)
    else:
        show(answer_facts(answer), output)
