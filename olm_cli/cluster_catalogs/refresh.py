"""`olm catalog refresh`: has catalogd look at registries at once, and tells what is new."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

import click

from api.objects import KubeObject, condition, name_of
from api.olm.v1.conditions import ConditionType
from api.olm.v1.names import ANNOTATION_REFRESH_REQUESTED
from api.olm.v1.refresh import said_of
from olm_cli.catalogs.cache import ContentCache
from olm_cli.catalogs.choice import known_catalogs
from olm_cli.catalogs.cluster import Cluster, Served
from olm_cli.catalogs.comparing import compare
from olm_cli.catalogs.content import Content
from olm_cli.catalogs.difference import counts, short_lines
from olm_cli.cluster_catalogs.facts import DIGEST_SHOWN
from olm_cli.cluster_catalogs.reading import (
    CATALOG,
    named,
    object_names,
    read_catalogs,
)
from olm_cli.cluster_catalogs.waiting import CatalogWait
from olm_cli.cluster_catalogs.writing import patch_catalog
from olm_cli.cluster_options import ClusterCommand, ClusterOptions, cluster_options
from olm_cli.history_cluster import cluster
from olm_cli.lifecycle.interrupt import run
from olm_cli.lifecycle.options import timeout_option
from olm_cli.lifecycle.overview import Phase, State
from olm_cli.output import Output, object_output_option, show, typed_name
from olm_runtime.clocks import utc_now
from olm_runtime.errors import OLMError, TerminalError

SHOWN = 20
"""Packages of which a line is printed; the rest is counted."""

Facts = dict[str, Any]


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
    chosen = run(_chosen(catalogs, given))
    options = ClusterOptions.of(given)
    before = {name_of(raw): _content(raw, options) for raw in chosen} if wait else {}
    request = request_at(utc_now())
    message = "stopped; catalogd was asked all the same: olm catalog list"
    after = run(_request(chosen, request, given, wait=wait), message=message)
    found = [
        _result(raw, after[name_of(raw)], request, (before[name_of(raw)], options))
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


def request_at(moment: datetime) -> str:
    """What names a request that is made then."""
    return moment.isoformat().replace("+00:00", "Z")


def refresh_patch(moment: datetime) -> dict[str, Any]:
    """The merge patch by which catalogd is asked to look at a registry."""
    return _patch(request_at(moment))


def _patch(request: str) -> dict[str, Any]:
    return {"metadata": {"annotations": {ANNOTATION_REFRESH_REQUESTED: request}}}


async def _chosen(catalogs: Sequence[str], given: Mapping[str, Any]) -> list[KubeObject]:
    """The catalogs of these names; without any, all in use. Raises TerminalError."""
    async with cluster(given["reach"]) as kube:
        every = await read_catalogs(kube)
    if not catalogs:
        return [raw for raw in every if Served.of(raw).available]
    chosen = [named(name, every) for name in catalogs]
    off = [name_of(raw) for raw in chosen if not Served.of(raw).available]
    if off:
        raise TerminalError(
            f"{', '.join(off)} {'is' if len(off) == 1 else 'are'} switched off",
            hint=f"olm catalog enable {' '.join(off)}",
        )
    return chosen


async def _request(
    chosen: Sequence[KubeObject], request: str, given: Mapping[str, Any], *, wait: bool
) -> dict[str, KubeObject]:
    """The catalogs by name, when all requests are answered if asked to wait. Raises OLMError."""

    def answered(raw: KubeObject) -> bool:
        return _answer(raw, request)[1] is not None

    async with cluster(given["reach"]) as kube:
        patch = _patch(request)
        found = {name_of(raw): await patch_catalog(kube, raw, patch) for raw in chosen}
        if not wait:
            return found
        waiting = CatalogWait(
            kube,
            tuple(found),
            given["timeout"],
            doing="its registry is being asked",
            hint="check that catalogd runs; upstream's looks at its interval only",
        )
        return await waiting.until_all(answered, "not refreshed")


def _answer(raw: KubeObject, request: str) -> tuple[str, str | None]:
    """Whether a request was met (as a status), and what was said of it; None for nothing yet."""
    answer = condition(raw, ConditionType.REFRESHED) or {}
    return str(answer.get("status")), said_of(request, str(answer.get("message", "")))


def _content(raw: KubeObject, options: ClusterOptions) -> Content | OLMError:
    """What the catalog has, to compare with, or why that is not known."""
    try:
        return Cluster(options).content(Served.of(raw), ContentCache.of_user())
    except OLMError as error:
        return error


def _result(
    before: KubeObject,
    after: KubeObject,
    request: str,
    compared: tuple[Content | OLMError, ClusterOptions],
) -> Facts:
    """What came of it, as data; `compared` is the content before, and how to get that after."""
    old, new = Served.of(before).digest, Served.of(after).digest
    status, said = _answer(after, request)
    facts = {"name": name_of(after), "digest": new, "previousDigest": old}
    if status != "True":
        state = State.of_message(Phase.RETRYING, said or "")
        return {**facts, "result": "failed", "message": state.message, "hint": state.hint}
    if new == old:
        return {**facts, "result": "unchanged"}
    facts["result"] = "updated"
    content, options = compared
    if not old:
        return facts
    if isinstance(content, OLMError):
        return {**facts, "differenceUnknown": content.message}
    newer = _content(after, options)
    if isinstance(newer, OLMError):
        return {**facts, "differenceUnknown": newer.message}
    return {**facts, "difference": compare(content, newer)}


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
