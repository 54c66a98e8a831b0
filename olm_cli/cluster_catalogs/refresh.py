"""`olm catalog refresh`: has catalogd look at registries at once, and reports what is new."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import click

from api.objects import name_of
from api.olm.v1.kinds import CATALOG
from olm_cli.catalogs.options import known_catalogs
from olm_cli.cluster_catalogs.arguments import object_names
from olm_cli.cluster_options import ClusterCommand, cluster_options
from olm_cli.lifecycle.interrupt import run
from olm_cli.lifecycle.options import timeout_option
from olm_cli.output import Output, object_output_option, show, typed_name
from olm_client.catalogs.difference import counts, short_lines
from olm_client.cluster_catalogs.facts import DIGEST_SHOWN
from olm_client.cluster_catalogs.refreshing import (
    Facts,
    chosen_catalogs,
    content_now,
    request_at,
    request_refresh,
    result_of,
)
from olm_client.reach import ClusterOptions
from olm_runtime.cli.display import LiveDisplay
from olm_runtime.clocks import utc_now

SHOWN = 20
"""Packages of which a line is printed; the rest is counted."""


@click.command("refresh", cls=ClusterCommand)
@click.argument(
    "catalogs",
    nargs=-1,
    callback=object_names,
    shell_complete=known_catalogs,
    metavar="[CATALOG]...",
)
@click.option("--all", "every", is_flag=True, help="All catalogs that are in use.")
@click.option(
    "--wait/--no-wait",
    default=True,
    show_default=True,
    help="Return when each registry was asked and what is new is served.",
)
@timeout_option
@cluster_options
@object_output_option
def refresh(
    catalogs: tuple[str, ...], output: Output, *, every: bool, wait: bool, **given: Any
) -> None:
    """Look at the registry of each CATALOG for new content at once, and tell what is new.

    catalogd looks at a tag every poll interval by itself. Of one catalog it answers at most one
    request in 10 s. Exits with 1 if a registry could not be asked.

    \b
    Examples:
      olm catalog refresh operatorhubio
      olm catalog refresh --all -o json
      olm catalog refresh operatorhubio --no-wait
    """
    if bool(catalogs) == every:
        raise click.UsageError("give CATALOG or --all")
    chosen = run(chosen_catalogs(catalogs, given))
    options = ClusterOptions.of(given)
    before = {name_of(raw): content_now(raw, options) for raw in chosen} if wait else {}
    request = request_at(utc_now())
    message = "stopped; catalogd was asked all the same: olm catalog list"
    after = run(request_refresh(chosen, request, given, LiveDisplay(), wait=wait), message=message)
    found = [
        result_of(raw, after[name_of(raw)], request, (before[name_of(raw)], options))
        if wait
        else {"name": name_of(raw), "result": "requested"}
        for raw in chosen
    ]
    if output.is_text:
        for facts in found:
            click.echo("\n".join(_lines(facts)))
    else:
        show({"catalogs": found}, output, (typed_name(CATALOG, name_of(raw)) for raw in chosen))
    raise SystemExit(any(facts["result"] == "failed" for facts in found))


def _lines(facts: Facts) -> Iterator[str]:
    name, digest = facts["name"], facts.get("digest", "")[:DIGEST_SHOWN]
    match facts["result"]:
        case "requested":
            yield f"{name}: its registry is being asked; see: olm catalog show {name}"
        case "failed":
            yield click.style(f"{name}: not refreshed: ", fg="red") + facts["message"]
            yield from (f"  hint: {hint}" for hint in facts["hint"].splitlines())
        case "unchanged":
            yield f"{name}: unchanged, {digest}"
        case _:
            old = facts["previousDigest"][:DIGEST_SHOWN]
            yield f"{name}: new content, " + (f"{old} -> {digest}" if old else digest)
            yield from (f"  {line}" for line in _new(facts))


def _new(facts: Facts) -> Iterator[str]:
    if "differenceUnknown" in facts:
        yield f"what is new is not known: {facts['differenceUnknown']}"
    elif "difference" in facts and any(facts["difference"].values()):
        lines = list(short_lines(facts["difference"]))
        yield from islice(lines, SHOWN)
        if len(lines) > SHOWN:
            old = facts["previousDigest"][:DIGEST_SHOWN]
            yield f"and {len(lines) - SHOWN} more: olm diff {facts['name']}@{old} {facts['name']}"
        yield counts(facts["difference"])
    elif "difference" in facts:
        yield "the same packages as before"
