"""`olm classic why`: why the Subscriptions of a namespace are where they are."""

import time
from collections.abc import Iterator
from typing import Any

import click

from api.objects import KubeObject, name_of
from olm_classic.dialect import Dialect
from olm_classic.resolve import Limit, Namespace, Resolution, ResolutionError
from olm_classic.resolve.explain import HeldBack, held_back
from olm_cli.classic.answers import (
    answer,
    data,
    error_data,
    error_lines,
    explanation,
    status_of,
)
from olm_cli.classic.options import world_options
from olm_cli.cluster_options import ClusterCommand
from olm_cli.output import Output, output_option, show
from olm_client.classic.world import read_world


@click.command("why", cls=ClusterCommand)
@world_options
@output_option
def why(output: Output, **options: Any) -> None:
    """Tell why the Subscriptions of a namespace are where they are, and what to change.

    For each, what it comes to, and why not something newer. Where the namespace does not resolve,
    the message of the condition ResolutionFailed, then the same in plain words, then the smallest
    change with which it does. Only reads. Exit code: 0, or 1 if the namespace does not resolve.

    \b
    Examples:
      olm classic why -n operators
      olm classic why -n operators -o json | jq .error.change.command
      olm classic why --files subscription.yaml --catalog community=./catalog
    """
    namespace, dialect = read_world(options), Dialect(options["dialect"])
    found = answer(namespace, dialect)
    if isinstance(found, ResolutionError):
        explained = explanation(namespace, found, dialect)
        if output.is_text:
            click.echo(f"{namespace.name} does not resolve\n")
            click.echo("\n".join(error_lines(found, explained)))
        else:
            show({"namespace": namespace.name, "error": error_data(found, explained)}, output)
        raise SystemExit(1)
    held = {
        name_of(each): held_back(namespace, name_of(each), Limit(time.monotonic), dialect)
        for each in sorted(namespace.subscriptions, key=name_of)
    }
    if output.is_text:
        click.echo("\n".join(_lines(namespace, found, held)))
    else:
        shown = {name: _held_data(each) for name, each in held.items() if each}
        show({"namespace": namespace.name, **data(found), "heldBack": shown}, output)


def _held_data(held: HeldBack) -> dict[str, Any]:
    return {"bundle": held.bundle, "causes": list(held.causes)}


def _lines(
    namespace: Namespace, found: Resolution, held: dict[str, HeldBack | None]
) -> Iterator[str]:
    if not held:
        yield f"{namespace.name}: no Subscription, so nothing is resolved"
    for subscription in sorted(namespace.subscriptions, key=name_of):
        name = name_of(subscription)
        back = held[name]
        yield f"{name}: {_outcome(subscription, found, newest=back is None)}"
        if back is not None:
            yield f"  not {back.bundle}, because:"
            yield from (f"    {cause}" for cause in back.causes)
    for name, spec in found.generated:
        yield f"{name}: to be created, for {spec['startingCSV']} is needed by others"


def _outcome(subscription: KubeObject, found: Resolution, *, newest: bool) -> str:
    name, installed = name_of(subscription), status_of(subscription, "installedCSV")
    target = dict(found.updated).get(name)
    if target:
        return f"goes on from {installed} to {target}" if installed else f"will have {target}"
    adopted = dict(found.adopted).get(name)
    if adopted:
        return f"takes up {adopted}, which is installed"
    current = status_of(subscription, "currentCSV")
    if installed and current in {"", installed}:
        return f"has {installed}{', and nothing updates it' if newest else ''}"
    return f"is on the way to {current}" if current else "has nothing"
