"""`opm validate`: all faults of a catalog at once."""

import sys
from pathlib import Path
from typing import Any

import click
import orjson

from olm_catalogs.validate import Fault, check
from olm_content.fbc.documents import FbcError
from olm_content.fbc.records import Place, RecordError
from olm_runtime.errors import TerminalError
from olm_runtime.plurals import counted
from opm.io.references import read_all


@click.command("validate")
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Choice(["json", "yaml"]), help="Print the result so.")
@click.option("--strict", is_flag=True, help="Fail for warnings, too.")
def validate(*, directory: Path, output: str | None, strict: bool) -> None:
    """Check a catalog folder against every rule of file-based catalogs.

    Prints each fault with its file and line, and ends with exit code 1 if there is any. Warnings
    are what the documents ask for and other tools let pass.

    \b
    Examples:
      opm validate catalog
      opm validate catalog -o json | jq '.faults[]'
    """
    faults = faults_of(directory)
    refused = [fault for fault in faults if strict or not fault.warning]
    if output:
        sys.stdout.buffer.write(_document(_result(faults, refused), output))
    else:
        show(faults, refused, directory)
    if refused:
        raise SystemExit(1)


def faults_of(directory: Path) -> list[Fault]:
    """All faults and warnings of a catalog folder. Raises TerminalError when there is none."""
    if not directory.is_dir():
        problem = "is not a directory" if directory.exists() else "no such directory"
        raise TerminalError(f"{directory}: {problem}", hint="give the catalog's root folder")
    records, unread = read_all(directory)
    if not records and not unread:
        return [Fault(Place(), "", "there is no object of a catalog in any file")]
    return [*map(_unread, unread), *check(records)]


def _unread(error: FbcError | RecordError) -> Fault:
    if isinstance(error, RecordError):
        return Fault(error.place, "", error.fault)
    return Fault(Place(error.path, error.line), "", error.fault)


def _result(faults: list[Fault], refused: list[Fault]) -> dict[str, Any]:
    """`passed` and `error` as upstream's tool has them, and every fault by itself."""
    result: dict[str, Any] = {"passed": not refused}
    if refused:
        result["error"] = {"message": "\n".join(map(str, refused))}
    return {**result, "faults": [fault.to_json() for fault in faults]}


def _document(result: dict[str, Any], output: str) -> bytes:
    if output == "json":
        return orjson.dumps(result, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    from olm_content.formats.yaml_text import dump_all

    return dump_all([result]).encode()


def show(faults: list[Fault], refused: list[Fault], directory: Path) -> None:
    """Prints the faults on standard error, and how many of them count."""
    for fault in faults:
        click.echo(str(fault), err=True)
    if refused:
        click.echo(f"error: {directory} has {counted(len(refused), 'fault')}", err=True)
