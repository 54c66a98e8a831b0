"""What `--catalog` names: one option, and one reading of its value, for all commands."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from olm_cli.cluster_options import Reach
from olm_runtime.errors import TerminalError

Command = TypeVar("Command", bound=Callable[..., Any])

SECONDS = 1.0
"""A shell does not wait: where the cluster needs longer, there is no completion."""

_WHAT = "A catalog: the name of a ClusterCatalog, a folder, or an image."
_PRIORITY = ",priority="


class Form(Enum):
    """Where a catalog is."""

    CLUSTER = auto()
    KEPT = auto()
    """What a catalog of the cluster was at a digest, as it was read then."""
    FOLDER = auto()
    IMAGE = auto()


@dataclass(frozen=True, slots=True)
class CatalogChoice:
    """A catalog as the command line names it.

    `where` is a name, `NAME@DIGEST`, a path or a reference; `name` is what answers call it.
    `priority` is that of catalogs that have none of their own.
    """

    form: Form
    where: str
    name: str
    priority: int = 0


def chosen(text: str) -> CatalogChoice:
    """Reads a value of `--catalog`: `[NAME=]CATALOG[,priority=N]`.

    A folder is what is one, or begins as a path does. A name has neither slash nor colon. Anything
    else is an image. Raises TerminalError for a folder that is not there, BadParameter.
    """
    if text and Path(text).is_dir():
        return CatalogChoice(Form.FOLDER, text, Path(text).resolve().name)
    rest, priority = _priority(text)
    name, equals, where = rest.partition("=") if "=" in rest else ("", "", rest)
    if not where or (equals and not name):
        raise click.BadParameter(f"{text}: expected NAME=DIR[,priority=N]")
    form = _form(where, named=bool(equals))
    if form is Form.CLUSTER and priority:
        raise click.BadParameter(f"{text}: a ClusterCatalog has a priority of its own")
    if not name:
        name = Path(where).resolve().name if form is Form.FOLDER else where
    return CatalogChoice(form, where, name, priority)


def _priority(text: str) -> tuple[str, int]:
    """The rest of a value, and its priority."""
    rest, given, priority = text.rpartition(_PRIORITY)
    if not given:
        return text, 0
    try:
        return rest, int(priority)
    except ValueError as error:
        message = f"{text}: the priority {priority} is no integer"
        raise click.BadParameter(message) from error


def _form(where: str, *, named: bool) -> Form:
    """`named`: with a name before it, which a ClusterCatalog has itself. Raises TerminalError."""
    if Path(where).is_dir():
        return Form.FOLDER
    name, at, _ = where.partition("@")
    if "/" not in name and ":" not in name and not named and not Path(where).exists():
        return Form.KEPT if at else Form.CLUSTER
    tagged = ":" in name.rpartition("/")[2] or at
    if where.startswith((".", "/", "~")) or not tagged:
        raise TerminalError(f"{where}: no such folder", hint="give the root folder of a catalog")
    return Form.IMAGE


def known_catalogs(
    ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The ClusterCatalogs whose names begin so, where a plain kubeconfig leads to them.

    File names, where a path was begun.
    """
    from olm_cli.catalogs.quick_list import quick_list

    if "/" in incomplete or incomplete.startswith("."):
        return [CompletionItem(incomplete, type="dir")]
    taken = ctx.params.get("catalogs") or ()
    found = quick_list(Reach.of(ctx.params), seconds=SECONDS) or ()
    images = {each["metadata"]["name"]: _image(each) for each in found}
    return [
        CompletionItem(name, help=image)
        for name, image in sorted(images.items())
        if name.startswith(incomplete) and name not in taken
    ]


def _image(raw: dict[str, Any]) -> str:
    source = (raw.get("spec") or {}).get("source") or {}
    return str((source.get("image") or {}).get("ref") or "")


catalogs_option = click.option(
    "--catalog",
    "catalogs",
    multiple=True,
    metavar="CATALOG",
    shell_complete=known_catalogs,
    help=f"{_WHAT} May be repeated. Default: all of the cluster.",
)
"""For commands that read catalogs."""

catalog_option = click.option(
    "--catalog",
    metavar="CATALOG",
    shell_complete=known_catalogs,
    help=f"{_WHAT} Default: all of the cluster. Only install --dry-run takes folders and images.",
)
"""For commands that have an extension take one catalog of the cluster."""
