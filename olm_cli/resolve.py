"""`olm resolve`: which bundle a ClusterExtension would get from catalogs on disk, and why."""

from collections.abc import Mapping
from typing import Any

import click

from api.olm.v1.clusterextension import BundleMetadata, CatalogFilter, UpgradeConstraintPolicy
from olm_cli import fields
from olm_cli.catalogs.completing import known_channels, known_packages, known_versions
from olm_cli.catalogs.options import catalog_options
from olm_cli.cluster_options import ClusterCommand
from olm_cli.output import Output, batch_option, output_option, show, show_answers
from olm_client.catalogs.choice import CatalogChoice, Form
from olm_client.catalogs.near import near_packages
from olm_client.catalogs.offered import offered, read_catalogs
from olm_client.resolution.text import explanation, facts, lines
from olm_client.usage import RequestError
from operator_controller.resolve import (
    Request,
    Resolution,
    ResolutionError,
    resolve,
)
from operator_controller.resolve.change import Change, NoChange
from operator_controller.resolve.change_search import find_change
from operator_controller.resolve.change_text import sentence as advice_sentence
from operator_controller.resolve.explain import summary

DEFAULT_POLICY = UpgradeConstraintPolicy.CATALOG_PROVIDED


@click.command("resolve", cls=ClusterCommand)
@click.option(
    "--package",
    metavar="NAME",
    shell_complete=known_packages,
    help="The package to find a bundle of.",
)
@click.option(
    "--version",
    "versions",
    default="",
    metavar="RANGE",
    shell_complete=known_versions,
    help="Versions to choose from.",
)
@click.option(
    "--channel",
    "channels",
    multiple=True,
    metavar="NAME",
    shell_complete=known_channels,
    help="A channel; may be repeated.",
)
@click.option(
    "--policy",
    type=click.Choice([policy.value for policy in UpgradeConstraintPolicy]),
    default=DEFAULT_POLICY.value,
    show_default=True,
    help="Whether the catalog's update edges count, or any version may follow.",
)
@click.option(
    "--installed", metavar="NAME=VERSION", help="The bundle that is installed; default: none."
)
@click.option(
    "--explain", is_flag=True, help="Tell of every bundle why it was, or was not, chosen."
)
@output_option
@batch_option
@catalog_options
def resolve_command(batch: str | None, output: Output, explain: bool, **given: Any) -> None:
    """Find the bundle that a ClusterExtension would get; only reads.

    No cluster is asked where all catalogs are folders and images. A catalog may be given a name and
    a priority: NAME=DIR,priority=N.

    \b
    Examples:
      olm resolve --catalog mine=./catalog --package quay-operator
      olm resolve --catalog mine=./catalog --package quay-operator --version '3.10.x' \\
          --channel stable-3.10 --installed quay-operator.v3.9.0=3.9.0 --explain
      olm resolve --catalog a=./a --catalog b=./b,priority=10 --package quay-operator -o json
      olm resolve --batch - < requests.jsonl

    A line of a batch is {"id","catalogs":[{"name","priority","dir"}],"package","version",
    "channels","policy","installed":{"name","version"}}; its answer is
    {"id","bundle","version","image","catalog"} or {"id","error"}.
    """
    if batch:
        show_answers(batch, answer, parallel=False)
        return
    if not given["package"]:
        raise click.UsageError("give --package, or --batch")
    request = _request_of_options(given)
    catalogs = read_catalogs(given["package"], given).contents
    try:
        outcome: Resolution | ResolutionError = resolve(request, catalogs)
    except ResolutionError as error:
        outcome = error
    advice = find_change(request, catalogs) if isinstance(outcome, ResolutionError) else None
    if output.is_text:
        click.echo("\n".join(lines(outcome, request, explain=explain)))
    else:
        reasons = explanation(outcome, request, advice) if explain else {}
        show(facts(outcome) | reasons, output)
    if isinstance(outcome, ResolutionError):
        meant = "" if outcome.findings.considered else near_packages(given["package"], given)
        raise _with_hint(outcome, advice, meant, explained=explain)


def _with_hint(
    error: ResolutionError, advice: Change | NoChange | None, meant: str, *, explained: bool
) -> ResolutionError:
    """The error with a hint, unless it has one."""
    hint = meant or (advice_sentence(advice) if advice else "")
    if not explained:
        hint = "; ".join(
            filter(None, (hint, f"{summary(error.findings)}; --explain tells of each"))
        )
    return ResolutionError(error.message, error.findings, hint=error.hint or hint)


def answer(line: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to one line of a batch, without its id. Raises OLMError."""
    package = fields.text(line, "package", required=True)
    installed = fields.inner(line, "installed")
    request = Request(
        CatalogFilter(
            package_name=package,
            version=fields.text(line, "version"),
            channels=fields.texts(line, "channels"),
            upgrade_constraint_policy=_policy(fields.text(line, "policy")),
        ),
        None if installed is None else _installed(installed),
    )
    folders = [
        CatalogChoice(
            Form.FOLDER,
            where=fields.text(catalog, "dir", required=True),
            name=fields.text(catalog, "name", required=True),
            priority=fields.number(catalog, "priority"),
        )
        for catalog in fields.objects(line, "catalogs")
    ]
    return facts(resolve(request, [offered(each, package, {}) for each in folders]))


def _request_of_options(given: Mapping[str, Any]) -> Request:
    installed = None
    if given["installed"]:
        name, equals, version = given["installed"].partition("=")
        if not (name and equals and version):
            raise click.BadParameter(f"{given['installed']}: expected NAME=VERSION")
        installed = BundleMetadata(name=name, version=version)
    desired = CatalogFilter(
        package_name=given["package"],
        version=given["versions"],
        channels=given["channels"],
        upgrade_constraint_policy=UpgradeConstraintPolicy(given["policy"]),
    )
    return Request(desired, installed)


def _installed(given: Mapping[str, Any]) -> BundleMetadata:
    return BundleMetadata(
        name=fields.text(given, "name", required=True),
        version=fields.text(given, "version", required=True),
        release=fields.text(given, "release") if given.get("release") is not None else None,
    )


def _policy(given: str) -> UpgradeConstraintPolicy:
    try:
        return UpgradeConstraintPolicy(given or DEFAULT_POLICY)
    except ValueError as error:
        known = ", ".join(UpgradeConstraintPolicy)
        raise RequestError(f'policy: unknown "{given}"; there are {known}') from error
