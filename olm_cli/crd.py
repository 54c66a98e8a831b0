"""`olm crd`: would updating CustomResourceDefinitions break stored objects? Needs no cluster."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import orjson

from olm_cli.batch import answers
from olm_shared.errors import OLMError, TerminalError
from olm_shared.kube_object import KubeObject, gvk_of, name_of
from olm_shared.kube_yaml import load_all
from operator_controller.bundle import go_types
from operator_controller.bundle.loader import CRD_KIND, MANIFESTS
from operator_controller.preflight.crd_upgrade import Finding, check

SAFE, UNSAFE, USAGE = 0, 1, 2
"""Exit codes, as diff has them."""

MANIFEST_SUFFIXES = frozenset({".yaml", ".yml", ".json"})

Definitions = dict[str, KubeObject]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What became of the definitions of OLD in NEW; the lists hold names."""

    findings: tuple[Finding, ...]
    compared: list[str]
    added: list[str]
    removed: list[str]


@click.group()
def crd() -> None:
    """Check CustomResourceDefinitions."""


@crd.command("check")
@click.argument("old", required=False)
@click.argument("new", required=False)
@click.option(
    "-o", "--output", type=click.Choice(["text", "json", "yaml"]), default="text", show_default=True
)
@click.option("--batch", metavar="FILE", help="Answer JSON lines from FILE, or - for stdin.")
@click.pass_context
def check_command(
    context: click.Context, old: str | None, new: str | None, output: str, batch: str | None
) -> None:
    """Say whether objects stored under the definitions of OLD stay valid under those of NEW.

    OLD and NEW are files with CustomResourceDefinitions (YAML or JSON), or folders of bundles, of
    which all definitions are compared by name. This is the check that OLM makes before an update.

    Exit code: 0 safe, 1 unsafe, 2 the question could not be answered.

    \b
    Examples:
      olm crd check old.yaml new.yaml
      olm crd check ./argocd-operator/0.17.0 ./argocd-operator/0.18.0 -o json
      kubectl get crd backups.example.com -o yaml | olm crd check /dev/stdin new.yaml
      olm crd check --batch - < requests.jsonl

    A line of a batch is {"id","old","new"}, both definitions; its answer is
    {"id","safe","findings"} or {"id","error"}.
    """
    if batch:
        for line in answers(batch, answer):
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
        return
    if not old or not new:
        raise click.UsageError("give OLD and NEW, or --batch")
    try:
        found = compare(definitions(Path(old)), definitions(Path(new)))
    except OLMError as error:
        click.echo(f"error: {error.describe()}", err=True)
        context.exit(USAGE)
    _show(found, output)
    context.exit(UNSAFE if found.findings else SAFE)


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """The answer to one line of a batch, without its id. Raises OLMError."""
    old, new = (_definition(request.get(field), field) for field in ("old", "new"))
    found = check(old, new)
    return {"safe": not found, "findings": [finding.line for finding in found]}


def compare(old: Definitions, new: Definitions) -> Comparison:
    """Definitions of the same name are compared. Raises TerminalError where there are none."""
    both = sorted(old.keys() & new.keys())
    if not both:
        raise TerminalError(
            "OLD and NEW have no CustomResourceDefinition in common",
            hint=f"OLD has {_listed(old)}; NEW has {_listed(new)}",
        )
    return Comparison(
        findings=tuple(finding for name in both for finding in check(old[name], new[name])),
        compared=both,
        added=sorted(new.keys() - old.keys()),
        removed=sorted(old.keys() - new.keys()),
    )


def _listed(found: Definitions) -> str:
    return ", ".join(sorted(found)) or "none"


def definitions(path: Path) -> Definitions:
    """The definitions in a file or a folder, by name. Raises OLMError."""
    found: Definitions = {}
    for file in _files(path):
        for obj in _objects(file):
            if obj.get("kind") != CRD_KIND:
                continue
            name = name_of(obj)
            if name in found:
                raise TerminalError(f"{file}: CustomResourceDefinition {name} is there twice")
            found[name] = _definition(obj, str(file))
    return found


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise TerminalError(f"{path}: no such file or folder")
    if not path.is_dir():
        return [path]
    manifests = path / MANIFESTS
    folder = manifests if manifests.is_dir() else path
    return sorted(file for file in folder.iterdir() if file.suffix in MANIFEST_SUFFIXES)


def _objects(file: Path) -> Iterator[KubeObject]:
    """The objects of a file, those in lists included."""
    try:
        pending = list(load_all(file.read_bytes()))
    except OSError as error:
        raise TerminalError(f"{file}: {error.strerror}") from error
    except OLMError as error:
        raise TerminalError(f"{file}: {error.message}") from error
    while pending:
        document = pending.pop(0)
        if not isinstance(document, dict):
            raise TerminalError(f"{file}: expected objects, got {type(document).__name__}")
        if isinstance(document.get("items"), list):
            pending = document["items"] + pending
        else:
            yield document


def _definition(value: Any, where: str) -> KubeObject:
    """The value in the shapes of the API. Raises TerminalError where it is no definition."""
    if not isinstance(value, dict) or value.get("kind") != CRD_KIND:
        raise TerminalError(f"{where}: expected a {CRD_KIND}")
    group, version = gvk_of(value).group, gvk_of(value).version
    if (group, version) != ("apiextensions.k8s.io", "v1"):
        raise TerminalError(
            f"{where}: {name_of(value)} is of {value.get('apiVersion')}; "
            "only apiextensions.k8s.io/v1 can be compared"
        )
    try:
        typed: KubeObject = go_types.read(CRD_KIND, value)
    except go_types.ShapeError as error:
        raise TerminalError(f"{where}: {name_of(value)}: {error}") from error
    return typed


# --- output ----------------------------------------------------------------------------------


def _show(found: Comparison, output: str) -> None:
    if output == "text":
        click.echo("\n".join(_text(found)))
        return
    value = _as_json(found)
    if output == "json":
        sys.stdout.buffer.write(orjson.dumps(value, option=orjson.OPT_INDENT_2) + b"\n")
        return
    from olm_shared.yaml_text import dump_all

    sys.stdout.write(dump_all([value]))


def _as_json(found: Comparison) -> dict[str, Any]:
    return {
        "safe": not found.findings,
        "findings": [
            {
                "crd": finding.crd,
                "validator": finding.validator.value,
                "version": finding.version,
                "field": finding.field,
                "problem": finding.problem,
                "message": finding.line,
            }
            for finding in found.findings
        ],
        "compared": found.compared,
        "added": found.added,
        "removed": found.removed,
    }


def _text(found: Comparison) -> Iterator[str]:
    """A table for each unsafe definition, then one line about the rest."""
    unsafe = list(dict.fromkeys(finding.crd for finding in found.findings))
    for name in unsafe:
        rows = [
            (finding.version or "-", finding.field or "-", finding.problem)
            for finding in found.findings
            if finding.crd == name
        ]
        yield f"{name}: unsafe"
        yield from _table([("VERSION", "FIELD", "PROBLEM"), *rows])
        yield ""
    for name in found.added:
        yield f"{name}: new, nothing to compare"
    for name in found.removed:
        yield f"{name}: not in NEW; an update would remove it and all its objects"
    yield f"{len(found.compared)} compared, {len(unsafe)} unsafe"


def _table(rows: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    rows = list(rows)
    first, second = (max(len(row[column]) for row in rows) for column in (0, 1))
    for row in rows:
        yield f"  {row[0]:{first}}  {row[1]:{second}}  {row[2]}"
