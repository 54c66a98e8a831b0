"""`olm uninstall`: removes an extension, after showing what is deleted with it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import click

from api.objects import key_of, name_of
from api.olm.v1.kinds import EXTENSION
from olm_cli.catalogs.extensions import extension_argument
from olm_cli.cluster_options import ClusterCommand, reach_options
from olm_cli.lifecycle.asking import ask_to_delete
from olm_cli.lifecycle.interrupt import run
from olm_cli.lifecycle.options import timeout_option
from olm_cli.output import Output, object_output_option, show, typed_name
from olm_client.extension import NoExtensionError
from olm_client.history import read_record
from olm_client.lifecycle.account_removal import AccountRemoval
from olm_client.lifecycle.deleting import Deletion
from olm_client.lifecycle.removal import Removal, facts, lines, remains
from olm_client.lifecycle.removing import preview_removal, preview_rest
from olm_client.reach import Reach, cluster
from olm_runtime.cli.display import LiveDisplay


@click.command("uninstall", cls=ClusterCommand)
@extension_argument
@click.option("--preview", is_flag=True, help="Say what would be deleted, and delete nothing.")
@click.option(
    "--cascade",
    is_flag=True,
    help="Delete custom resources first, and the rest only when they are gone.",
)
@click.option(
    "--keep-account", is_flag=True, help="Leave the namespace, the account and its roles there."
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--wait/--no-wait",
    default=None,
    help="Whether to return when it is gone, or fail after --timeout.  [default: wait]",
)
@timeout_option
@reach_options
@object_output_option
def uninstall(extension: str, output: Output, **given: Any) -> None:
    """Remove EXTENSION with all its objects, its CustomResourceDefinitions among them.

    Says first what would be deleted, how many custom resources would go with the definitions, and
    what would be in the way; then asks.

    Custom resources whose operator clears finalizers of theirs go well only while it runs. With
    --cascade they are deleted first, owners before what they own, and nothing else is touched
    until they are gone.

    At last it deletes what olm install wrote: the roles, the account and the namespace. What
    somebody else wrote, changed or needs stays, and is named. A command that was stopped can be
    run again, also when only the account is left.

    \b
    Examples:
      olm uninstall argocd --preview
      olm uninstall argocd
      olm uninstall argocd --cascade --timeout 10m
      olm uninstall argocd --yes -o json
    """
    _refuse_contradictions(given)
    removal = run(_look(extension, given["reach"]))
    if given["keep_account"]:
        removal = replace(removal, after=AccountRemoval())
    if output.is_text:
        click.echo("\n".join(lines(removal, click.style)))
    if given["preview"]:
        if not output.is_text:
            show(facts(removal), output, [typed_name(EXTENSION, extension)])
        return
    if not given["yes"]:
        ask_to_delete(f"delete {extension} and all of this?")
    waits = given["wait"] is not False
    done = run(_remove(removal, given, waits=waits), message=_stopped(removal, given))
    _report(done, output, gone=waits)


def _refuse_contradictions(given: Mapping[str, Any]) -> None:
    if given["preview"] and (given["yes"] or given["wait"] is not None):
        raise click.UsageError("--preview deletes nothing: leave --yes and --wait out")
    if given["cascade"] and given["wait"] is False:
        raise click.UsageError("--cascade waits for custom resources: leave --no-wait out")


async def _look(extension: str, reach: Reach) -> Removal:
    async with cluster(reach) as kube:
        try:
            record = await read_record(kube, extension)
        except NoExtensionError:
            rest = await preview_rest(kube, extension)
            if rest is None:
                raise
            return rest
        return await preview_removal(kube, record)


async def _remove(removal: Removal, given: Mapping[str, Any], *, waits: bool) -> Removal:
    """Returns the removal with what became of the account."""
    async with cluster(given["reach"]) as kube:
        deletion = Deletion(kube, removal, given["timeout"], LiveDisplay())
        if not removal.gone:
            if given["cascade"]:
                await deletion.custom_resources()
            await deletion.extension()
            if not waits:
                return removal
            await deletion.until_gone()
        if given["keep_account"]:
            return removal
        return replace(removal, after=await deletion.account())


def _stopped(removal: Removal, given: Mapping[str, Any]) -> str:
    """What Ctrl-C means."""
    name = name_of(removal.extension)
    again = f"go on with: olm uninstall {name}"
    if given["cascade"]:
        return f"stopped; what is being deleted goes on; {again} --cascade"
    return f"stopped; the deletion goes on: olm status {name}; to remove its account, {again}"


def _report(removal: Removal, output: Output, *, gone: bool) -> None:
    name = name_of(removal.extension)
    if not output.is_text:
        left = {} if gone else {"remains": remains(removal)}
        answer = {**facts(removal), "gone": gone, **left}
        show(answer, output, [typed_name(EXTENSION, name)])
        return
    if gone:
        click.echo("\n".join([*_account_text(removal.after), f"{name} is gone"]))
        return
    click.echo(f"{name} is being deleted; see: olm status {name}")
    if commands := remains(removal):
        click.echo("what olm install wrote stays; when it is gone:")
        for command in commands:
            click.echo(f"  {command}")


def _account_text(account: AccountRemoval) -> Iterator[str]:
    """What became of the account."""
    yield from (f"{key_of(obj)}: deleted" for obj in account.deleted)
    yield from (f"{key_of(obj)} stays: {reason}" for obj, reason in account.retained)
    if account.fault:
        yield f"its account stays: what olm install wrote is not known: {account.fault}"
