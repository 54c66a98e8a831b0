"""`olm plan`: what an extension would change, and what would stop it. Writes nothing."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from api.objects import KubeObject, name_of
from api.olm.v1 import names
from api.olm.v1.kinds import EXTENSION
from olm_cli.catalogs.extensions import known_extensions
from olm_cli.cluster_options import ClusterCommand
from olm_cli.kube_names import object_name
from olm_cli.lifecycle.interrupt import run
from olm_cli.lifecycle.options import source_options, spec_options
from olm_cli.output import Output, fail, object_output_option, show, typed_name
from olm_client.extension import find_extension
from olm_client.lifecycle.applying import apply
from olm_client.lifecycle.changes import Action, Change
from olm_client.lifecycle.dry_run import namespaces_in, users_write, with_accepted_spec
from olm_client.lifecycle.given_fields import spec_fields_of
from olm_client.lifecycle.plan import Plan
from olm_client.lifecycle.plan_page import DETAILS, object_lines, page_lines
from olm_client.lifecycle.plan_text import change_facts, change_lines, plan_facts, plan_lines
from olm_client.lifecycle.planning import Planner, Target
from olm_client.lifecycle.spec_fields import SpecFields, with_fields
from olm_client.object_files import objects_in, read_file
from olm_runtime.errors import OLMError, TerminalError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError

GOES_THROUGH, STOPPED, UNANSWERED = 0, 1, 2
"""Exit codes, as olm crd check and olm diff have them."""

STDIN = "-"
SUFFIXES = (".yaml", ".yml", ".json")


@click.command("plan", cls=ClusterCommand)
@click.argument("target", metavar="EXTENSION|FILE", shell_complete=known_extensions)
@spec_options
@click.option("--details", is_flag=True, help="Tell of every object, field, rule and image.")
@object_output_option
@source_options
def plan(target: str, output: Output, details: bool, **given: Any) -> None:
    """Tell what EXTENSION would change if its spec said so, or what applying FILE would.

    That is: the bundle; the objects that would be created, changed field by field, or deleted; what
    is unsafe about changed CustomResourceDefinitions; the permissions that are missing, needed
    newly and no longer; the images; and everything that operator-controller would stop at.

    The API server is asked in dry runs, so its own validation and admission count; nothing is
    written. FILE has ClusterExtensions and perhaps what they need, such as olm install --dry-run
    prints; - is standard input. Without options EXTENSION is planned as its spec is.

    Prints a page; --details, or -o json, has all of it, and -o name the objects that would not stay
    as they are.

    Exit code: 0 nothing stands in the way, 1 something does, 2 the question could not be answered.

    \b
    Examples:
      olm plan argocd --version 0.18.x
      olm plan argocd --watch-namespace apps -o json
      olm install argocd-operator --dry-run | olm plan -
      olm plan extension.yaml
    """
    try:
        fields = spec_fields_of(given)
        documents = _documents(target)
        if documents is not None and not fields.is_empty:
            raise click.UsageError("a FILE says itself what is wanted: leave such options out")
        answer = run(_answer(target, documents, fields, given))
    except OLMError as error:
        fail(error, UNANSWERED)
    if output.is_text:
        click.echo("\n".join(answer.lines(details=details)))
    else:
        show(answer.facts(), output, answer.names())
    raise SystemExit(GOES_THROUGH if answer.goes_through else STOPPED)


class _Answer(NamedTuple):
    """Plans of extensions, and changes of other objects that would be applied with them."""

    plans: Sequence[Plan]
    others: Sequence[Change] = ()

    @property
    def goes_through(self) -> bool:
        return not any(each.obstacles for each in self.plans)

    def lines(self, *, details: bool) -> list[str]:
        of_objects, of_plan = (change_lines, plan_lines) if details else (object_lines, page_lines)
        found = []
        if self.others:
            found += ["what is applied beside it:", *of_objects(self.others, click.style), ""]
        for number, each in enumerate(self.plans):
            found += [*([""] if number else []), *of_plan(each, click.style)]
        return [*found, *([] if details else [DETAILS])]

    def names(self) -> list[str]:
        changes = [*self.others, *(change for each in self.plans for change in each.changes)]
        found = [each.key for each in changes if each.action is not Action.UNCHANGED]
        return list(dict.fromkeys(typed_name(key.gvk, key.name) for key in found))

    def facts(self) -> dict[str, Any]:
        return {
            "plans": [plan_facts(each) for each in self.plans],
            "beside": change_facts(self.others),
        }


def _documents(target: str) -> list[KubeObject] | None:
    """The objects of a file; None if an extension is meant. Raises OLMError."""
    if target == STDIN:
        return _objects("standard input", sys.stdin.buffer.read())
    if not (target.endswith(SUFFIXES) or "/" in target or Path(target).is_file()):
        object_name(None, None, target)
        return None
    return _objects(target, read_file(Path(target)))


def _objects(file: str, content: bytes) -> list[KubeObject]:
    found = list(objects_in(file, content))
    if not any(map(_is_extension, found)):
        raise TerminalError(
            f"{file} has no {names.CLUSTER_EXTENSION}",
            hint="olm install PACKAGE --dry-run writes one",
        )
    return found


def _is_extension(obj: KubeObject) -> bool:
    kind = (obj.get("apiVersion"), obj.get("kind"))
    return kind == (names.API_VERSION, names.CLUSTER_EXTENSION)


async def _answer(
    target: str, documents: list[KubeObject] | None, fields: SpecFields, given: Mapping[str, Any]
) -> _Answer:
    access = given["reach"].access()
    async with KubeClient.briefly(access) as kube:
        planner = Planner(kube, access, given)
        if documents is None:
            before = after = await find_extension(kube, target)
            if not fields.is_empty:
                spec = with_fields(before["spec"], fields)
                after = await with_accepted_spec(kube, before, spec)
            return _Answer([await planner.plan(Target(after, before))])
        others = [obj for obj in documents if not _is_extension(obj)]
        changes = [await users_write(kube, obj, namespaces_in(others)) for obj in others]
        plans = [
            await planner.plan(await _of_file(kube, obj, others))
            for obj in documents
            if _is_extension(obj)
        ]
        return _Answer(plans, changes)


async def _of_file(kube: KubeClient, obj: KubeObject, others: Sequence[KubeObject]) -> Target:
    """An extension as it would be if a document of a file were applied."""
    before = await kube.find(EXTENSION, name_of(obj))
    try:
        after = await apply(kube, obj, dry_run=True)
    except ApiError as error:
        raise TerminalError(f"ClusterExtension {name_of(obj)}: {error.message}") from error
    return Target(after, before, others)
