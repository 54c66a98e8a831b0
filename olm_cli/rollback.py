"""`olm rollback`: returns an extension to the bundle of an earlier revision."""

import asyncio
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click
import orjson

from api.objects import KubeObject
from olm_cli.catalogs.completing import known_revisions
from olm_cli.catalogs.extensions import extension_argument
from olm_cli.cluster_options import ClusterCommand, reach_options
from olm_cli.extension import EXTENSION
from olm_cli.history_cluster import (
    Record,
    change,
    cluster,
    content_of,
    definitions_in,
    live,
    read_record,
)
from olm_cli.lifecycle.applying import Applied
from olm_cli.lifecycle.commands import command_of_patch
from olm_cli.lifecycle.interrupt import run
from olm_cli.lifecycle.obstacle import UNSERVED
from olm_cli.lifecycle.options import timeout_option
from olm_cli.lifecycle.rights import rights_of_change
from olm_cli.lifecycle.roles import Roles
from olm_cli.lifecycle.waiting import Wait
from olm_cli.output import Output, object_output_option, show, typed_name
from olm_cli.rollback_plan import Plan, appliers, choose, going, is_impossible, obstacles
from olm_content.crds import report
from olm_content.crds.findings import SWITCH_OFF
from olm_content.rights import Account
from olm_rollout.io.stored_objects import count
from olm_rollout.phases import Identity, identity
from olm_runtime.cli.display import LiveDisplay
from olm_runtime.errors import TerminalError
from olm_runtime.kube.client import KubeClient
from operator_controller.apply.revisions import Revision
from operator_controller.apply.suspension import suspension_of, way_on

COUNT_SECONDS = 20.0
HOPELESS = (
    "the API server refuses that too: store the objects in another version first "
    "(status.storedVersions), or go to another revision"
)


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
        plan = choose(record.extension, record.revisions, number)
        contents = await _contents(kube, plan, record)
        await _refuse_unsafe(kube, plan, record, contents)
        roles = await _roles(kube, plan, contents, grant=given["grant"])
        if output.is_text:
            click.echo("\n".join(_lines(plan, record, dry_run=dry_run)))
        if not dry_run:
            echo = output.echo
            await _carry_out(kube, plan, record, roles, given, echo)
        if not output.is_text:
            show(
                _facts(plan, record, changed=not dry_run),
                output,
                [typed_name(EXTENSION, extension)],
            )


async def _carry_out(
    kube: KubeClient,
    plan: Plan,
    record: Record,
    roles: Roles,
    given: Mapping[str, Any],
    echo: Callable[[str], None],
) -> None:
    """Writes the roles, then the spec, and waits if asked to. Raises OLMError."""
    name = roles.extension

    def note(applied: Applied) -> None:
        echo(f"  {applied.key}: {applied.result}")

    if roles.rights.missing:
        await roles.grant(kube, note)
    await change(kube, record, plan.patch)
    if given["wait"]:
        wait = Wait(kube, name, given["timeout"], LiveDisplay())
        await wait.until_installed(plan.target.bundle.name)
        echo(f"{name}: {plan.target.bundle.name} is installed")
        if given["grant"]:
            await roles.take_back(kube, given["timeout"], echo, note)


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


@dataclass(frozen=True, slots=True)
class _Contents:
    """The objects of the revision to go to, and of those in service."""

    target: Sequence[KubeObject]
    present: Sequence[KubeObject]


async def _contents(kube: KubeClient, plan: Plan, record: Record) -> _Contents:
    what_for = "a rollback is checked against what revisions hold"
    target = await content_of(kube, plan.target, what_for=what_for)
    present: dict[Identity, KubeObject] = {}
    for revision in record.revisions.active:
        for obj in await content_of(kube, revision, what_for=what_for):
            present[identity(obj)] = obj
    return _Contents(target, list(present.values()))


async def _roles(kube: KubeClient, plan: Plan, contents: _Contents, *, grant: bool) -> Roles:
    """Raises TerminalError if the account lacks rights and is not to be granted them."""
    extension, number = plan.extension, plan.target.number
    name, account = extension.metadata.name, extension.spec.service_account_name
    rights = await rights_of_change(
        kube, Account(extension.spec.namespace, account), name, contents.present, contents.target
    )
    hint = f"olm rollback {name} --to {number} --grant"
    if rights.missing and not (grant and rights.grants_help):
        raise TerminalError(
            f"{name} cannot go back to revision {number}:\n{rights.missing}",
            hint=f"grant them: {hint}" if rights.grants_help else UNSERVED,
        )
    roles = Roles(name, account, rights, hint)
    if rights.missing:
        await roles.check_alone(kube)
    return roles


async def _refuse_unsafe(kube: KubeClient, plan: Plan, record: Record, contents: _Contents) -> None:
    """Raises TerminalError if the definitions of these revisions do not allow it."""
    target = definitions_in(contents.target)
    now = await live(kube, {*target, *definitions_in(contents.present)})
    found = await asyncio.to_thread(obstacles, plan, target, now)
    if plan.extension.spec.crd_upgrade_safety_enforced:
        found += tuple(await count(kube, going(record.raw, target, now), COUNT_SECONDS))
    name, number = plan.extension.metadata.name, plan.target.number
    if found:
        raise TerminalError(
            f"{name} cannot go back to revision {number}:\n{report(found)}",
            hint=HOPELESS if any(map(is_impossible, found)) else SWITCH_OFF,
        )


def _lines(plan: Plan, record: Record, *, dry_run: bool) -> Iterator[str]:
    name, catalog = plan.extension.metadata.name, record.raw["spec"]["source"]["catalog"]
    installed = plan.installed
    source = f"{installed.bundle.name} (revision {installed.number})" if installed else "nothing"
    yield f"{name}: from {source} to {plan.target.bundle.name} (revision {plan.target.number})"
    yield "this would change the spec:" if dry_run else "this changes the spec:"
    for field, value in plan.patch["spec"]["source"]["catalog"].items():
        before = orjson.dumps(catalog[field]).decode() if field in catalog else "unset"
        yield f"  spec.source.catalog.{field}: {before} -> {orjson.dumps(value).decode()}"
    if dry_run:
        yield "to make the change:"
        yield f"  olm rollback {name} --to {plan.target.number}"
        yield f"  or {_kubectl(name, plan.patch)}"
    way_on_later = plan.way_on(record.raw)
    yield "to go on later, as before:"
    if command := command_of_patch(name, way_on_later):
        yield f"  {command}"
    yield f"  {'or ' if command else ''}{_kubectl(name, way_on_later)}"
    if suspension := suspension_of(record.raw):
        yield f"note: {name} is {suspension.text}; {way_on(name)}"
    owners = appliers(record.raw)
    if owners:
        yield (
            f"note: spec.source.catalog is applied by {', '.join(owners)}: make the change where "
            "its YAML is kept too, or it is undone"
        )


def _kubectl(name: str, patch: dict[str, Any]) -> str:
    text = shlex.quote(orjson.dumps(patch).decode())
    return f"kubectl patch clusterextension {name} --type=merge -p {text}"
