"""`olm rollback`: returns an extension to the bundle of an earlier revision."""

from collections.abc import Callable, Mapping
from typing import Any

import click

from api.olm.v1.kinds import EXTENSION
from olm_cli.catalogs.completing import known_revisions
from olm_cli.catalogs.extensions import extension_argument
from olm_cli.cluster_options import ClusterCommand, reach_options
from olm_cli.lifecycle.interrupt import run
from olm_cli.lifecycle.options import timeout_option
from olm_cli.output import Output, object_output_option, show, typed_name
from olm_client.history import Record, read_record
from olm_client.lifecycle.applying import Applied
from olm_client.lifecycle.rollback_plan import Plan, appliers
from olm_client.lifecycle.rolling_back import Rollback, prepare_rollback
from olm_client.lifecycle.waiting import Wait
from olm_client.reach import cluster
from olm_runtime.cli.display import LiveDisplay
from olm_runtime.kube.client import KubeClient
from operator_controller.apply.revisions import Revision


@click.command("rollback", cls=ClusterCommand)
@extension_argument
@click.option(
    "--to",
    "number",
    type=click.IntRange(min=1),
    metavar="N",
    shell_complete=known_revisions,
    help="The revision, as olm history numbers them; default: the newest of a lower version.",
)
@click.option("--grant", is_flag=True, help="Agree that its account gets the rights it lacks.")
@click.option("--dry-run", is_flag=True, help="Check and print the change, but do not make it.")
@click.option("--wait", is_flag=True, help="Return when it is installed, or fail after --timeout.")
@timeout_option
@reach_options
@object_output_option
def rollback(extension: str, number: int | None, output: Output, **given: Any) -> None:
    """Bring an extension back to the bundle of a revision that is kept.

    Sets spec.source.catalog.version to that very version, and upgradeConstraintPolicy to
    SelfCertified; so it stays there until the spec says otherwise. Configuration stays as it is.

    Refused where stored objects of a CustomResourceDefinition stand against it, unless
    spec.install.preflight.crdUpgradeSafety.enforcement is None; and where the service account lacks
    rights, unless --grant agrees: then its roles are written first, as olm upgrade does.

    \b
    Examples:
      olm rollback quay --dry-run
      olm rollback quay --grant --wait
      olm rollback quay --to 3
    """
    message = f"stopped; a change that was made stays: olm status {extension}"
    run(_rollback(extension, number, given, output), message=message)


async def _rollback(
    extension: str, number: int | None, given: Mapping[str, Any], output: Output
) -> None:
    dry_run: bool = given["dry_run"]
    async with cluster(given["reach"]) as kube:
        record = await read_record(kube, extension)
        found = await prepare_rollback(kube, record, number, grant=given["grant"])
        if output.is_text:
            click.echo("\n".join(found.lines(dry_run=dry_run)))
        if not dry_run:
            await _carry_out(kube, found, given, output.echo)
        if not output.is_text:
            show(
                _facts(found.plan, record, changed=not dry_run),
                output,
                [typed_name(EXTENSION, extension)],
            )


async def _carry_out(
    kube: KubeClient, found: Rollback, given: Mapping[str, Any], echo: Callable[[str], None]
) -> None:
    """Writes, and waits if asked to. Raises OLMError."""
    name = found.roles.extension

    def note(applied: Applied) -> None:
        echo(f"  {applied.key}: {applied.result}")

    await found.write(kube, note)
    if given["wait"]:
        bundle = found.plan.target.bundle.name
        wait = Wait(kube, name, given["timeout"], LiveDisplay())
        await wait.until_installed(bundle)
        echo(f"{name}: {bundle} is installed")
        if given["grant"]:
            await found.roles.take_back(kube, given["timeout"], echo, note)


def _facts(plan: Plan, record: Record, *, changed: bool) -> dict[str, Any]:
    return {
        "extension": plan.extension.metadata.name,
        "from": _revision(plan.installed) if plan.installed else None,
        "to": _revision(plan.target),
        "patch": plan.patch,
        "wayOn": plan.way_on(record.raw),
        "appliedBy": appliers(record.raw),
        "changed": changed,
    }


def _revision(revision: Revision) -> dict[str, Any]:
    bundle = revision.bundle
    return {"revision": revision.number, "bundle": bundle.name, "version": bundle.version}
