"""`olm crd`: would updating CustomResourceDefinitions break stored objects?"""

from collections.abc import Mapping
from typing import Any

import click

from olm_cli.cluster_options import ClusterCommand, reach_options
from olm_cli.output import batch_option, fail, output_option, show, show_answers
from olm_cli.registry_options import registry_options
from olm_client.bundle_files import registries
from olm_client.crds.comparing import compare
from olm_client.crds.report import Comparison, as_json, as_text
from olm_client.crds.source import as_definition, definitions
from olm_client.crds.texts import TEXTS, read_line, text_changes
from olm_content.crds import Finding, check
from olm_content.crds.findings import worst_first
from olm_content.crds.going import everything_going
from olm_content.crds.stored import questions
from olm_runtime.cli.async_work import run_async
from olm_runtime.errors import OLMError

SAFE, UNSAFE, USAGE = 0, 1, 2
"""Exit codes, as diff has them."""

STORED_SECONDS = 60.0
"""For looking at stored objects."""


@click.group()
def crd() -> None:
    """Check CustomResourceDefinitions."""


@crd.command("check", cls=ClusterCommand)
@click.argument("sources", nargs=-1, metavar="[OLD] NEW")
@output_option
@batch_option
@click.option(
    "--against-cluster",
    is_flag=True,
    help="Look at the objects that are stored; OLD is what the cluster has, unless given.",
)
@click.option(
    "--max-objects",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    help="Of each definition, to look at.",
)
@registry_options
@reach_options
@click.pass_context
def check_command(context: click.Context, /, sources: tuple[str, ...], **given: Any) -> None:
    """Say whether objects stored under the definitions of OLD stay valid under those of NEW.

    OLD and NEW are files with CustomResourceDefinitions (YAML or JSON), or bundles: folders, tar
    archives or image references. All definitions are compared by name. This is the check that OLM
    makes before an update.

    With --against-cluster the API server says how many stored objects would be invalid, in dry
    runs: nothing in the cluster changes. That needs the rights to list the objects and to create
    CustomResourceDefinitions. The verdict is that of the definitions all the same.

    Exit code: 0 safe, 1 unsafe, 2 the question could not be answered.

    \b
    Examples:
      olm crd check old.yaml new.yaml
      olm crd check ./argocd-operator/0.17.0 ./argocd-operator/0.18.0 -o json
      olm crd check registry.example.com/op-bundle:v1.0.0 registry.example.com/op-bundle:v1.1.0
      olm crd check --against-cluster ./argocd-operator/0.18.0
      kubectl get crd backups.example.com -o yaml | olm crd check /dev/stdin new.yaml
      olm crd check --batch - < requests.jsonl

    A line of a batch is {"id","old","new"}, both definitions; its answer is
    {"id","safe","findings"} or {"id","error"}. Defaults, enums and examples of a line are compared
    by their text, as upstream does; give compact JSON with sorted keys, as API servers do, and the
    values are compared.
    """
    if given["batch"]:
        show_answers(given["batch"], answer, read=read_line)
        return
    in_cluster = given["against_cluster"]
    if len(sources) != 2 and not (in_cluster and len(sources) == 1):
        raise click.UsageError("give OLD and NEW, or NEW and --against-cluster, or --batch")
    try:
        found = _checked(sources, given) if not in_cluster else _checked_in_cluster(sources, given)
    except OLMError as error:
        fail(error, USAGE)
    if given["output"].is_text:
        click.echo("\n".join(as_text(found)))
    else:
        show(as_json(found), given["output"])
    context.exit(UNSAFE if found.findings else SAFE)


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to one line of a batch, without its id. Raises OLMError."""
    old, new = (as_definition(request.get(field), field) for field in ("old", "new"))
    found = worst_first([*check(old, new), *text_changes(old, new, request.get(TEXTS) or {})])
    return {"safe": not found, "findings": [finding.line for finding in found]}


def _checked(sources: tuple[str, ...], given: Mapping[str, Any]) -> Comparison:
    old, new = (definitions(source, registries(dict(given))) for source in sources)
    return compare(old, new)


def _checked_in_cluster(sources: tuple[str, ...], given: Mapping[str, Any]) -> Comparison:
    from olm_client.crds.live import counted, examined, live_definitions
    from olm_rollout.io.stored_objects import Bounds

    reach = given["reach"]
    *before, new = [definitions(source, registries(dict(given))) for source in sources]
    names = {name for each in (*before, new) for name in each}
    live = run_async(live_definitions(reach, sorted(names)))
    found = compare(before[0] if before else live, new, all_new=not before)
    asked = [
        question
        for name in found.compared
        if name in live
        for question in questions(live[name], new[name], _of(found, name))
    ]
    bounds = Bounds(objects=given["max_objects"], seconds=STORED_SECONDS)
    lost = run_async(counted(reach, everything_going(live, new), bounds.seconds))
    return found._replace(
        findings=worst_first([*found.findings, *lost]),
        stored=tuple(run_async(examined(reach, asked, bounds))),
    )


def _of(found: Comparison, name: str) -> list[Finding]:
    return [finding for finding in found.findings if finding.crd == name]
