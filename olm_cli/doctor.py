"""`olm doctor`: finds what is wrong in a cluster, and the commands that mend it."""

import shlex
import sys
from collections.abc import Sequence
from typing import Any

import click

from olm_cli.cluster_options import ClusterCommand, cluster_options
from olm_cli.doctor_page import page_lines
from olm_cli.lifecycle.interrupt import run
from olm_cli.output import Output, output_option, show
from olm_cli.table import table
from olm_client.diagnosis.checks.every import CHECKS, chosen
from olm_client.diagnosis.collecting import Collector
from olm_client.diagnosis.findings import (
    Check,
    Finding,
    Remedy,
    Severity,
    Verdict,
    examine,
    exit_code,
)
from olm_client.diagnosis.routing import routed
from olm_client.reach import ClusterOptions, Reach
from olm_runtime.cli.display import LiveDisplay
from olm_runtime.errors import OLMError
from olm_runtime.kube.client import KubeClient

COULD_NOT_EXAMINE = 2


def _complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    return [check.name for check in CHECKS if check.name.startswith(incomplete)]


@click.command("doctor", cls=ClusterCommand)
@click.option(
    "--check",
    "names",
    multiple=True,
    metavar="NAME",
    shell_complete=_complete,
    help="Make this check only; may be repeated.",
)
@click.option("--list", "listing", is_flag=True, help="List the checks, and make none.")
@cluster_options
@output_option
def doctor(names: Sequence[str], listing: bool, output: Output, **options: Any) -> None:
    """Find what is wrong with OLM and its extensions in a cluster, and how to mend it.

    What is wrong comes first: what, why, and the commands that mend it, of which nothing is run.
    Then a line for each check. What could not be seen is "unknown", with the right that is missing.

    Exit code: 0 nothing is wrong (there may be warnings), 1 there are errors, 2 there are none, but
    not everything could be examined.

    \b
    Examples:
      olm doctor
      olm doctor --check deletions --check webhooks
      olm doctor -o jsonpath='{.findings[*].message}'
      olm doctor --list

    Only reads. A cluster with upstream's OLM v1, or without any, can be examined, too.
    """
    checks = chosen(names)
    if listing:
        _list(checks, output)
        return
    try:
        verdicts = run(_examined(checks, ClusterOptions.of(options)))
    except OLMError as error:
        _print([_unreachable(error)], output)
        raise SystemExit(COULD_NOT_EXAMINE) from error
    _print([routed(verdict, _way(options["reach"])) for verdict in verdicts], output)
    raise SystemExit(exit_code(verdicts))


def _list(checks: Sequence[Check], output: Output) -> None:
    if output.is_text:
        rows = [(check.name, check.group, check.summary) for check in checks]
        click.echo("\n".join(table(("CHECK", "GROUP", "WHAT IS WELL"), rows)))
        return
    show(
        [
            {"name": each.name, "group": each.group, "summary": each.summary, "docs": each.docs}
            for each in checks
        ],
        output,
    )


async def _examined(checks: Sequence[Check], options: ClusterOptions) -> list[Verdict]:
    """Raises OLMError if the cluster cannot be asked at all."""
    progress = LiveDisplay(sys.stderr)

    def report(what: str) -> None:
        if progress.is_live:
            progress.show([f"{what} …"])

    wanted = frozenset(fact for check in checks for fact in check.reads)
    access = options.reach.access()
    try:
        async with KubeClient.briefly(access) as kube:
            collector = Collector(
                kube, access, wanted, report, options.cas_dir, allow_http=options.allow_http
            )
            snapshot = await collector.collect()
    finally:
        progress.end()
    return examine(checks, snapshot)


def _way(reach: Reach) -> tuple[tuple[str, str], ...]:
    """The options that name a cluster, for the commands that are printed."""
    named = {"--kubeconfig": reach.kubeconfig, "--context": reach.overrides.context}
    return tuple((name, shlex.quote(value)) for name, value in named.items() if value)


def _unreachable(error: OLMError) -> Verdict:
    """The one verdict where nothing could be read."""
    finding = Finding(
        Severity.ERROR,
        "the cluster cannot be examined",
        why=error.message,
        remedies=(
            Remedy(
                error.hint or "see whether kubectl reaches it with the same kubeconfig",
                ("kubectl cluster-info",),
            ),
        ),
    )
    return Verdict(CHECKS[0], (finding,))


def _print(verdicts: Sequence[Verdict], output: Output) -> None:
    if output.is_text:
        click.echo("\n".join(page_lines(verdicts)))
        return
    show(
        {
            "checks": [verdict.facts() for verdict in verdicts],
            "findings": [
                finding.facts(verdict.check) for verdict in verdicts for finding in verdict.findings
            ],
        },
        output,
    )
