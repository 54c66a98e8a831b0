"""What `--catalog` names: one reading of its value for all commands."""

from enum import Enum, auto
from pathlib import Path
from typing import NamedTuple

from olm_client.usage import InvalidValueError
from olm_runtime.errors import TerminalError

_PRIORITY = ",priority="


class Form(Enum):
    """Where a catalog is."""

    CLUSTER = auto()
    CACHED = auto()
    """What a catalog of the cluster was at a digest, as it was read then."""
    FOLDER = auto()
    IMAGE = auto()


class CatalogChoice(NamedTuple):
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
    else is an image. Raises TerminalError for a folder that is not there, InvalidValueError.
    """
    if text and Path(text).is_dir():
        return CatalogChoice(Form.FOLDER, text, Path(text).resolve().name)
    rest, priority = _priority(text)
    name, equals, where = rest.partition("=") if "=" in rest else ("", "", rest)
    if not where or (equals and not name):
        raise InvalidValueError(f"{text}: expected NAME=DIR[,priority=N]")
    form = _form(where, named=bool(equals))
    if form is Form.CLUSTER and priority:
        raise InvalidValueError(f"{text}: a ClusterCatalog has a priority of its own")
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
        raise InvalidValueError(message) from error


def _form(where: str, *, named: bool) -> Form:
    """`named`: with a name before it, which a ClusterCatalog has itself. Raises TerminalError."""
    if Path(where).is_dir():
        return Form.FOLDER
    name, at, _ = where.partition("@")
    if "/" not in name and ":" not in name and not named and not Path(where).exists():
        return Form.CACHED if at else Form.CLUSTER
    tagged = ":" in name.rpartition("/")[2] or at
    if where.startswith((".", "/", "~")) or not tagged:
        raise TerminalError(f"{where}: no such folder", hint="give the root folder of a catalog")
    return Form.IMAGE
