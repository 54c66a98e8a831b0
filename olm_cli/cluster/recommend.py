"""`olm cluster recommend`: says which updates a cluster has, and what speaks against them."""

import click

from cluster_version.client_output.facts import update_facts
from cluster_version.client_output.recommend_view import recommendations, updates_of
from olm_cli.cluster.warning import warn
from olm_cli.cluster_options import ClusterCommand, reach_options
from olm_cli.lifecycle.interrupt import run
from olm_cli.output import Output, output_option, show
from olm_client.cluster.reading import version_at
from olm_client.reach import Reach
from olm_content.versions import VersionError, parse_version
from olm_runtime.errors import TerminalError


def _version(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    try:
        if value is not None:
            parse_version(value)
    except VersionError as error:
        raise click.BadParameter(str(error), ctx, param) from error
    return value


@click.command("recommend", cls=ClusterCommand)
@click.option("--version", callback=_version, help="Tell of this version alone.")
@click.option("--show-outdated-releases", is_flag=True, help="Show older updates, too.")
@click.option(
    "--accept", multiple=True, metavar="NAMES", help="Issues to take, with commas between them."
)
@click.option("-q", "--quiet", is_flag=True, help="With --version: print only what is not taken.")
@reach_options
@output_option
def recommend(
    version: str | None,
    show_outdated_releases: bool,
    accept: tuple[str, ...],
    quiet: bool,
    reach: Reach,
    output: Output,
) -> None:
    """Say which updates the cluster has by minor version, and what speaks against each.

    With --version the exit code is 1 if something speaks against that one that --accept does not
    name: Failing, Progressing, CannotRetrieveUpdates, ConditionalUpdateRisk. Alerts are not looked
    at.

    \b
    Examples:
      olm cluster recommend
      olm cluster recommend --show-outdated-releases
      olm cluster recommend --version 4.10.26
      olm cluster recommend --version 4.10.26 --accept ConditionalUpdateRisk --quiet
      olm cluster recommend -o json | jq -r '.updates[] | select(.against == null) | .version'

    Only reads.
    """
    if version is not None and show_outdated_releases:
        raise click.UsageError("when --version is set, --show-outdated-releases is unnecessary")
    if quiet and version is None:
        raise click.UsageError("--quiet is for one --version")
    if (quiet or accept) and not output.is_text:
        raise click.UsageError("--accept and --quiet are for people, not for -o " + output.format)
    live = run(version_at(reach))
    if not output.is_text:
        chosen = [each for each in updates_of(live, warn) if version in (None, each.version)]
        show({"updates": [update_facts(each) for each in chosen]}, output)
        return
    page = recommendations(
        live,
        _unheard if quiet else warn,
        accepted={name for names in accept for name in names.split(",")},
        outdated=show_outdated_releases,
        version=version,
    )
    if not quiet:
        click.echo(page.text, nl=False)
    if page.error:
        raise TerminalError(page.error)


def _unheard(_: str) -> None:
    """Takes warnings where only issues are asked for; the error names them."""
