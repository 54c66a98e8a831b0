"""`olm uninstall`: removes an extension, after showing what is deleted with it."""

import sys
from collections.abc import Mapping
from typing import Any

import click

from api.objects import metadata, name_of
from olm_cli.catalogs.extensions import extension_argument
from olm_cli.cluster_options import ClusterCommand, Reach, reach_options
from olm_cli.extension import EXTENSION
from olm_cli.history_cluster import Record, cluster, read_record
from olm_cli.lifecycle.interrupt import run, stop
from olm_cli.lifecycle.options import timeout_option
from olm_cli.lifecycle.removal import Removal, facts, lines, remains
from olm_cli.lifecycle.removing import preview_removal
from olm_cli.lifecycle.waiting import Wait
from olm_cli.output import Output, object_output_option, show, typed_name
from olm_runtime.cli.display import LiveDisplay
from olm_runtime.errors import TerminalError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, ConflictError


@click.command("uninstall", cls=ClusterCommand)
@extension_argument
@click.option("--preview", is_flag=True, help="Say what would be deleted, and delete nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option("--wait", is_flag=True, help="Return when it is gone, or fail after --timeout.")
@timeout_option
@reach_options
@object_output_option
def uninstall(extension: str, output: Output, **given: Any) -> None:
    """Remove EXTENSION with all its objects, its CustomResourceDefinitions among them.

    Says first what would be deleted, how many custom resources would go with the definitions, and
    what would be in the way; then asks. The namespace and the account stay.

    \b
    Examples:
      olm uninstall argocd --preview
      olm uninstall argocd --wait
      olm uninstall argocd --yes -o json
    """
    if given["preview"] and (given["yes"] or given["wait"]):
        raise click.UsageError("--preview deletes nothing: leave --yes and --wait out")
    record, removal = run(_look(extension, given["reach"]))
    if output.is_text:
        click.echo("\n".join(lines(removal)))
    if given["preview"]:
        if not output.is_text:
            show(facts(removal), output, [typed_name(EXTENSION, extension)])
        return
    if not given["yes"]:
        _ask(extension)
    message = f"stopped; the deletion goes on: olm status {extension}"
    run(_remove(record, given), message=message)
    _report(removal, output, gone=given["wait"])


async def _look(extension: str, reach: Reach) -> tuple[Record, Removal]:
    async with cluster(reach) as kube:
        record = await read_record(kube, extension)
        return record, await preview_removal(kube, record)


async def _remove(record: Record, given: Mapping[str, Any]) -> None:
    async with cluster(given["reach"]) as kube:
        await _delete(kube, record)
        if given["wait"]:
            wait = Wait(kube, name_of(record.raw), given["timeout"], LiveDisplay())
            await wait.until_gone(str(metadata(record.raw)["uid"]))


def _ask(extension: str) -> None:
    """Returns if the answer is yes; else the program ends.

    Not inside the event loop, which would keep Ctrl-C to itself while a person thinks.
    """
    if not sys.stdin.isatty():
        raise TerminalError(
            "nobody can be asked whether to delete: standard input is no terminal",
            hint="--yes deletes without asking, --preview only says what would be deleted",
        )
    try:
        agreed = click.confirm(f"delete {extension} and all of this?", err=True)
    except click.Abort:
        stop("nothing was deleted")
    if not agreed:
        click.echo("nothing was deleted", err=True)
        raise SystemExit(1)


async def _delete(kube: KubeClient, record: Record) -> None:
    try:
        await kube.delete(record.raw, uid=str(metadata(record.raw)["uid"]))
    except ConflictError as error:
        raise TerminalError(
            f"{name_of(record.raw)} was made anew meanwhile", hint="run the command again"
        ) from error
    except ApiError as error:
        raise TerminalError(f"{name_of(record.raw)} was not deleted: {error.message}") from error


def _report(removal: Removal, output: Output, *, gone: bool) -> None:
    name = name_of(removal.extension)
    if not output.is_text:
        show({**facts(removal), "gone": gone}, output, [typed_name(EXTENSION, name)])
        return
    click.echo(f"{name} is gone" if gone else f"{name} is being deleted; see: olm status {name}")
    left = remains(removal)
    if left:
        click.echo(f"its account and namespace {removal.account[0]} stay; what olm install wrote:")
        for command in left:
            click.echo(f"  {command}")
