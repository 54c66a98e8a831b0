"""`opm migrate`: a catalog as a folder of file-based ones, a folder a package."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from olm_content.fbc.records import Record, in_order
from olm_runtime.errors import TerminalError
from opm.commands.output import output_option
from opm.commands.registries import registry_options
from opm.io.references import Reading, read_reference
from opm.migrate import MIGRATIONS, NONE
from opm.migrate import migrate as migrated
from opm.text import json_text, yaml_text


@click.command("migrate")
@click.argument("catalog", metavar="CATALOG")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@output_option
@click.option(
    "--migrate-level",
    type=click.Choice(list(MIGRATIONS)),
    default=NONE,
    show_default=True,
    help="Run all migrations up to and including this one.",
)
@registry_options
@click.pass_obj
def migrate(
    registries: dict[str, Any], *, catalog: str, folder: Path, output: str, migrate_level: str
) -> None:
    """Write a catalog image, an SQLite file or a catalog folder as a file-based catalog.

    DIR gets a folder for each package, with catalog.json or catalog.yaml in it. It must be empty
    or new.

    \b
    Example:
      opm migrate registry.example.com/my-index:v1 my-catalog
      opm generate dockerfile my-catalog
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise TerminalError(f'output dir "{folder}" must be empty', hint="name a new folder")
    how = Reading(bundles_allowed=False, **registries)
    records = list(in_order(migrated(read_reference(catalog, how), migrate_level)))
    write_catalog(records, folder, output)


def write_catalog(records: Iterable[Record], root: Path, output: str) -> None:
    """Writes a catalog's folder, as `json` or `yaml`. Raises TerminalError."""
    try:
        _write(records, root, output)
    except OSError as error:
        raise TerminalError(f"{error.filename}: {error.strerror}") from error


def _write(records: Iterable[Record], root: Path, output: str) -> None:
    """Records of no package are written next to the packages' folders."""
    by_package: dict[str, list[Record]] = {}
    for each in records:
        by_package.setdefault(each.package, []).append(each)
    wrong = [name for name in by_package if "/" in name or name in {".", ".."}]
    if wrong:
        raise TerminalError(f'package name "{wrong[0]}" is no name of a folder')
    text = json_text if output == "json" else yaml_text
    root.mkdir(parents=True, exist_ok=True)
    for name, given in by_package.items():
        (root / name).mkdir(exist_ok=True)
        with (root / name / f"catalog.{output}").open("wb") as file:
            file.writelines(text(each.value) for each in given)
