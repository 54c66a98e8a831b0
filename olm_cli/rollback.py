"""`olm rollback`: an extension goes back to the bundle of a revision that is kept."""

import asyncio
import shlex
from collections.abc import Iterator
from typing import Any

import click
import orjson

from olm_cli.history_cluster import (
    Record,
    change,
    cluster,
    definitions_of,
    in_use,
    live,
    read_record,
)
from olm_cli.rollback_plan import Plan, appliers, choose, is_impossible, obstacles
from olm_shared.errors import OLMError, TerminalError
from olm_shared.kube_object import condition, metadata
from olm_shared.runtime.kube import KubeClient
from operator_controller.preflight.crd_upgrade import report

LOOK_SECONDS = 0.5
RISKY = (
    "to go back all the same, set spec.install.preflight.crdUpgradeSafety.enforcement to None; "
    "stored objects or their clients may break"
)
HOPELESS = (
    "the API server refuses that too: store the objects in another version first "
    "(status.storedVersions), or go to another revision"
)


@click.command("rollback")
@click.argument("extension")
@click.option(
    "--to",
    "number",
    type=click.IntRange(min=1),
    metavar="N",
    help="The revision, as olm history numbers them; default: the newest of a lower version.",
)
@click.option("--dry-run", is_flag=True, help="Check and print the change, but do not make it.")
@click.option("--wait", is_flag=True, help="Return when it is installed, or fail after --timeout.")
@click.option(
    "--timeout",
    type=click.IntRange(min=1),
    default=300,
    show_default=True,
    metavar="SECONDS",
    help="How long --wait waits.",
)
@click.option(
    "--kubeconfig", metavar="FILE", help="How to reach the cluster; default: as kubectl does."
)
def rollback(
    extension: str,
    number: int | None,
    dry_run: bool,
    wait: bool,
    timeout: int,
    kubeconfig: str | None,
) -> None:
    """Bring an extension back to the bundle of a revision that is kept.

    Sets spec.source.catalog.version to that very version, and upgradeConstraintPolicy to
    SelfCertified; so it stays there until the spec says otherwise. Configuration stays as it is.

    Refused where stored objects of a CustomResourceDefinition stand against it.

    \b
    Examples:
      olm rollback quay --dry-run
      olm rollback quay --wait
      olm rollback quay --to 3
    """
    asyncio.run(
        _rollback(extension, number, dry_run=dry_run, wait=timeout if wait else 0, at=kubeconfig)
    )


async def _rollback(
    extension: str, number: int | None, *, dry_run: bool, wait: int, at: str | None
) -> None:
    async with cluster(at) as kube:
        record = await read_record(kube, extension)
        plan = choose(record.extension, record.revisions, number)
        await _refuse_unsafe(kube, plan)
        click.echo("\n".join(_told(plan, record, dry_run=dry_run)))
        if dry_run:
            return
        await change(kube, record, plan.patch)
        if wait:
            await _wait(kube, plan, wait)
            click.echo(f"{extension}: {plan.target.bundle.name} is installed")


async def _refuse_unsafe(kube: KubeClient, plan: Plan) -> None:
    """Raises TerminalError with what the definitions of both revisions say against it."""
    target = await definitions_of(kube, plan.target)
    present = await definitions_of(kube, plan.installed) if plan.installed else {}
    now = await live(kube, {*target, *present})
    found = await asyncio.to_thread(obstacles, plan, target, now)
    name, number = plan.extension.metadata.name, plan.target.number
    if found:
        raise TerminalError(
            f"{name} cannot go back to revision {number}:\n{report(found)}",
            hint=HOPELESS if any(map(is_impossible, found)) else RISKY,
        )
    lost = await in_use(kube, [now[crd] for crd in sorted(present.keys() - target) if crd in now])
    if lost:
        raise TerminalError(
            f"{name} cannot go back to revision {number}, which does not have "
            f"{', '.join(lost)}: the objects that are stored of it would be deleted",
            hint="delete them first, if they are not needed any more",
        )


def _told(plan: Plan, record: Record, *, dry_run: bool) -> Iterator[str]:
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
        yield f"  {_kubectl(name, plan.patch)}"
    yield "to go on later, as before:"
    yield f"  {_kubectl(name, plan.way_on(record.raw))}"
    owners = appliers(record.raw)
    if owners:
        yield (
            f"note: spec.source.catalog is applied by {', '.join(owners)}: make the change where "
            "its YAML is kept too, or it is undone"
        )


def _kubectl(name: str, patch: dict[str, Any]) -> str:
    text = shlex.quote(orjson.dumps(patch).decode())
    return f"kubectl patch clusterextension {name} --type=merge -p {text}"


async def _wait(kube: KubeClient, plan: Plan, seconds: int) -> None:
    """Returns when the target's bundle is installed and nothing is left to do."""
    name, bundle = plan.extension.metadata.name, plan.target.bundle
    last = "operator-controller has not looked at it"
    try:
        async with asyncio.timeout(seconds):
            while True:
                record = await read_record(kube, name)
                found = condition(record.raw, "Progressing") or {}
                generation = metadata(record.raw).get("generation")
                if found.get("observedGeneration") == generation:
                    last = f"{found['reason']}: {found['message']}"
                    install = record.extension.status.install
                    there = install is not None and install.bundle.name == bundle.name
                    if there and found["reason"] == "Succeeded":
                        return
                    if found["status"] == "False":
                        raise TerminalError(f"{name} does not get to {bundle.name}: {last}")
                await asyncio.sleep(LOOK_SECONDS)
    except TimeoutError as error:
        raise OLMError(
            f"{name} did not get to {bundle.name} within {seconds} s: {last}",
            hint=f"it is still tried; look again: kubectl describe clusterextension {name}",
        ) from error
