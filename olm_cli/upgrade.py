"""`olm upgrade`: brings an extension to another version, with the rights that it needs."""

from collections.abc import Callable, Mapping
from typing import Any

import click

from api.objects import KubeObject
from api.olm.v1.kinds import EXTENSION
from olm_cli.catalogs.extensions import known_extensions
from olm_cli.cluster_options import ClusterCommand
from olm_cli.kube_names import object_name
from olm_cli.lifecycle.interrupt import run
from olm_cli.lifecycle.options import source_options, spec_options, timeout_option
from olm_cli.lifecycle.outlook_text import outlook_lines, outlook_table
from olm_cli.output import Output, fail, show, table_output_option, typed_name
from olm_client.lifecycle.applying import Applied
from olm_client.lifecycle.given_fields import spec_fields_of
from olm_client.lifecycle.looking_out import look_out
from olm_client.lifecycle.outlook import Outlook, Standing
from olm_client.lifecycle.overview import Phase, extension_facts, extension_state, installed_bundle
from olm_client.lifecycle.plan import Plan
from olm_client.lifecycle.plan_text import counts_text, plan_facts
from olm_client.lifecycle.planning import Planner
from olm_client.lifecycle.spec_fields import SpecFields
from olm_client.lifecycle.upgrade_text import upgrade_lines
from olm_client.lifecycle.upgrading import Upgrade, prepare, write_spec
from olm_client.lifecycle.waiting import Wait, is_higher
from olm_runtime.cli.display import LiveDisplay
from olm_runtime.errors import OLMError
from olm_runtime.kube.client import KubeClient

_NOW = {Phase.DEGRADED: "it does not work yet", Phase.UPDATING: "more follows"}
DONE, STOPPED, UNANSWERED = 0, 1, 2
"""Exit codes; those of --check: the newest is there, something newer is, it is not known."""


@click.command("upgrade", cls=ClusterCommand)
@click.argument(
    "extension",
    required=False,
    callback=lambda ctx, param, value: value and object_name(ctx, param, value),
    shell_complete=known_extensions,
)
@spec_options
@click.option("--grant", is_flag=True, help="Agree that its account gets the rights it lacks.")
@click.option("--check", is_flag=True, help="Only tell whether an update may come; write nothing.")
@click.option("--dry-run", is_flag=True, help="Print what would be done, and write nothing.")
@click.option("--wait", is_flag=True, help="Return when it is installed, or fail after --timeout.")
@timeout_option
@table_output_option
@source_options
def upgrade(extension: str | None, output: Output, **given: Any) -> None:
    """Bring EXTENSION to another version: the newest that its spec allows, or --version.

    A spec that names one version goes on to the newest that its author offers from there; a range
    is kept unless --version gives another.

    Says in short what changes. If its service account lacks rights, says which, and writes nothing
    unless --grant agrees; then it writes the roles first, as olm install does, and the spec last. A
    command that was stopped can be run again. What stands in the way is told before anything is
    written. --version '' takes the range away, so that all updates follow by themselves.

    --check tells of EXTENSION, or of all, whether an update may come and what holds it: the range,
    the channel, no update path, rights, unsafe definitions, deprecation, OpenShift, suspension.

    Exit code: 0 done, or nothing to do; 1 something stands in the way. With --check: 0 the newest
    version is installed, 1 a newer one is there, 2 the question could not be answered.

    \b
    Examples:
      olm upgrade argocd --wait
      olm upgrade argocd --version 0.18.x --grant --wait
      olm upgrade argocd --channel stable --dry-run
      olm upgrade --check
      olm upgrade --check argocd -o json
    """
    if given["check"] and (given["grant"] or given["dry_run"] or given["wait"]):
        raise click.UsageError("--check writes nothing: leave --grant, --dry-run and --wait out")
    if given["dry_run"] and given["wait"]:
        raise click.UsageError("give --dry-run or --wait")
    fields = spec_fields_of(given)
    if given["check"]:
        _check(extension, fields, given, output)
    if extension is None:
        raise click.UsageError("name an EXTENSION; --check tells which have updates")
    message = f"stopped; what was written stays: olm status {extension}"
    found, stopped = run(_upgrade(extension, fields, given, output), message=message)
    if not output.is_text:
        show(found, output, [typed_name(EXTENSION, extension)])
    raise SystemExit(STOPPED if stopped else DONE)


async def _upgrade(
    extension: str, fields: SpecFields, given: Mapping[str, Any], output: Output
) -> tuple[dict[str, Any], bool]:
    """The result as data, and whether something stood in the way."""
    echo = output.echo
    access = given["reach"].access()
    async with KubeClient.briefly(access) as kube:
        planner = Planner(kube, access, given)
        found = await prepare(kube, planner, extension, fields, grant=given["grant"])
        echo("\n".join(upgrade_lines(found, click.style)))
        facts = {**plan_facts(found.plan), "obstacles": [], "written": False}
        if found.obstacles:
            echo(click.style("nothing was written", fg="red"))
            return {**plan_facts(found.plan), "written": False}, True
        if found.is_empty and not (given["grant"] and given["wait"]):
            echo("nothing is to be done")
            if found.outlook.commands:
                echo("\n".join(outlook_lines(found.outlook)))
            return facts, False
        if found.roles:
            await found.account.check_alone(kube)
        if given["dry_run"]:
            echo("nothing was written: this is a dry run")
            return {**facts, "roles": [each.obj for each in found.roles]}, False
        done: list[Applied] = []
        status = await _carry_out(kube, found, given, echo, done)
        more = {"status": extension_facts(status)} if status else {}
        return {**facts, "written": True, "rights": [each.facts() for each in done], **more}, False


async def _carry_out(
    kube: KubeClient,
    found: Upgrade,
    given: Mapping[str, Any],
    echo: Callable[[str], None],
    done: list[Applied],
) -> KubeObject | None:
    """Writes, and waits if asked to: the extension then. Raises OLMError."""
    plan = found.plan

    def note(applied: Applied) -> None:
        done.append(applied)
        echo(f"  {applied.key}: {applied.result}")

    if found.roles:
        await found.account.grant(kube, note)
    await write_spec(kube, found)
    if not given["wait"]:
        echo(f"see how it goes: olm status {plan.extension}")
        return None
    status = await _waited(Wait(kube, plan.extension, given["timeout"], LiveDisplay()), plan)
    before = f"{plan.installed.name} -> " if plan.installed and plan.moves else ""
    there, state = installed_bundle(status).get("name"), extension_state(status)
    echo(f"{plan.extension}: {before}{there} is installed; objects: {counts_text(plan.changes)}")
    if state.message and state.phase is not Phase.INSTALLED:
        echo(f"note: {_NOW.get(state.phase, state.phase.value)}: {state.message}")
    if given["grant"]:
        await found.account.take_back(kube, given["timeout"], echo, note)
    return status


async def _waited(wait: Wait, plan: Plan) -> KubeObject:
    """The extension once the plan has come true."""
    if plan.bundle is None or not plan.moves:
        return await wait.until_installed(plan.bundle.name if plan.bundle else "")
    new, old = plan.bundle.version, plan.installed.version if plan.installed else ""
    goes_on = not old or is_higher(new, old)
    return await wait.until_updated(plan.bundle.name, beyond=new if goes_on else "")


def _check(
    extension: str | None, fields: SpecFields, given: Mapping[str, Any], output: Output
) -> None:
    """Answers --check, and ends the program."""
    try:
        found, meets = run(_checked(extension, fields, given))
    except OLMError as error:
        fail(error, UNANSWERED)
    if not output.is_text:
        plan = {"plan": plan_facts(meets.plan)} if meets else {}
        names = [typed_name(EXTENSION, each.extension) for each in found]
        show({"extensions": [each.facts() for each in found], **plan}, output, names)
    elif extension is None:
        lines = outlook_table(found, wide=output.is_wide) if found else ["there are no extensions"]
        click.echo("\n".join(lines))
    else:
        outlooks = [line for each in found for line in outlook_lines(each)]
        click.echo("\n".join([*outlooks, *(upgrade_lines(meets, click.style) if meets else ())]))
    standings = {each.standing for each in found}
    if Standing.UNKNOWN in standings:
        raise SystemExit(UNANSWERED)
    newer = any(each.newest not in ("", each.installed) for each in found)
    raise SystemExit(STOPPED if newer else DONE)


async def _checked(
    extension: str | None, fields: SpecFields, given: Mapping[str, Any]
) -> tuple[list[Outlook], Upgrade | None]:
    """The outlooks, and of one extension what the next update would meet."""
    access = given["reach"].access()
    async with KubeClient.briefly(access) as kube:
        planner = Planner(kube, access, given)
        found = await look_out(kube, planner, extension)
        if extension is None or not found[0].commands:
            return found, None
        [about] = found
        if fields.version is None and not about.coming and about.step:
            fields = fields._replace(version=about.step)
        return found, await prepare(kube, planner, extension, fields, grant=False)
