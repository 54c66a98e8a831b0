"""`olm why`: why an extension in a cluster has the bundle it has, and what would change it."""

from typing import Any

import click

from api.wire import InvalidObjectError
from olm_cli.catalogs.extensions import extension_argument
from olm_cli.cluster_options import ClusterCommand, cluster_options
from olm_cli.output import Output, output_option, show
from olm_client.reach import ClusterOptions
from olm_client.resolution.situation import read_situation
from olm_client.why import answer_facts, answer_lines, answer_of
from olm_runtime.cli.async_work import run_async
from olm_runtime.errors import TerminalError


@click.command("why", cls=ClusterCommand)
@extension_argument
@cluster_options
@output_option
def why(extension: str, output: Output, **options: Any) -> None:
    """Tell why an extension has the bundle it has, of every other one why not, and what to change.

    Exit code: 0, or 1 if there is no such extension, or a catalog that counts cannot be read.

    Only reads: the ClusterExtension, its ClusterObjectSets, the ClusterCatalogs, and of catalogd
    the one package.

    \b
    Examples:
      olm why quay
      olm why quay -o json | jq .explanation.advice.patch
    """
    try:
        situation = run_async(read_situation(extension, ClusterOptions.of(options)))
    except InvalidObjectError as error:
        raise TerminalError(str(error)) from error
    answer = answer_of(situation, options)
    if output.is_text:
        click.echo("\n".join(answer_lines(answer)))
    else:
        show(answer_facts(answer), output)
    if not answer.is_known:
        raise SystemExit(1)
