"""`olm classic plan`: what the next InstallPlan of a namespace would have."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import click

from olm_classic.dialect import Dialect
from olm_classic.install_plans.steps import Step
from olm_classic.resolve import Namespace, Resolution, ResolutionError
from olm_cli.classic.answers import (
    answer,
    approval,
    bundle_lines,
    data,
    error_data,
    error_lines,
    explanation,
)
from olm_cli.classic.options import world_options
from olm_cli.cluster_options import ClusterCommand
from olm_cli.output import Output, output_option, show
from olm_cli.table import table
from olm_client.classic.steps import read_steps
from olm_client.classic.world import read_world


@click.command("plan", cls=ClusterCommand)
@click.option(
    "--steps", is_flag=True, help="List each object that the plan creates; pulls the bundles."
)
@world_options
@output_option
def plan(output: Output, steps: bool, **options: Any) -> None:
    """Show what the next InstallPlan of a namespace would have; only reads.

    Bundles to install and what they replace, Subscriptions to create for dependencies and to move
    on. Exit code: 0, also if there is nothing to do, or 1 if the namespace does not resolve.

    \b
    Examples:
      olm classic plan -n operators
      olm classic plan -n operators --steps
      olm classic plan --files subscription.yaml --catalog community=./catalog
      olm classic plan -n operators --catalog olm/community=quay.io/example/catalog:next -o yaml
    """
    namespace, dialect = read_world(options), Dialect(options["dialect"])
    found = answer(namespace, dialect)
    if isinstance(found, ResolutionError):
        why = explanation(namespace, found, dialect)
        if output.is_text:
            click.echo("\n".join(error_lines(found, why)))
        else:
            show({"namespace": namespace.name, "error": error_data(found, why)}, output)
        raise SystemExit(1)
    listed = read_steps(found, namespace.name, options) if steps and found.updated else []
    if output.is_text:
        click.echo("\n".join((*_lines(namespace, found), *_step_lines(listed))))
    else:
        show({**_data(namespace, found), **({"plan": listed} if steps else {})}, output)


def _step_lines(steps: Iterable[Step]) -> Iterator[str]:
    rows = [
        (each["resolving"], kind["kind"], kind["name"], "/".join(filter(None, _group(kind))))
        for each in steps
        for kind in [each["resource"]]
    ]
    if rows:
        yield ""
        yield from table(("FOR", "KIND", "NAME", "API"), rows)


def _group(resource: Mapping[str, str]) -> tuple[str, str]:
    return resource["group"], resource["version"]


def _data(namespace: Namespace, found: Resolution) -> dict[str, Any]:
    shown = data(found)
    shown["bundles"] = [each for each in shown["bundles"] if each.pop("new")]
    return {
        "namespace": namespace.name,
        "approval": approval(namespace.subscriptions) if found.updated else None,
        **shown,
    }


def _lines(namespace: Namespace, found: Resolution) -> Iterator[str]:
    if not found.updated:
        yield f"{namespace.name}: nothing to do"
    else:
        approved = approval(namespace.subscriptions)
        waits = ", which waits to be approved" if approved == "Manual" else ""
        yield f"{namespace.name}: an InstallPlan with approval {approved}{waits}"
        yield from bundle_lines(found, only_new=True)
    yield from (f"subscription {name} goes on to {csv}" for name, csv in found.updated)
    for name, spec in found.generated:
        yield f"subscription {name} is created for package {spec['name']}"
    yield from (f"subscription {name} takes up {csv}" for name, csv in found.adopted)
