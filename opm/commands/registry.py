"""`opm registry`: changes and serves SQLite indexes on disk."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from olm_runtime.cli.go_command import GoCommand
from olm_runtime.errors import TerminalError
from opm.commands.databases import add_images, mode_option, names_of, overwrite_option
from opm.commands.registries import registry_options
from opm.io.references import DEPRECATION

Command = TypeVar("Command", bound=Callable[..., Any])


@click.group("registry")
@registry_options
def registry() -> None:
    """Change and serve SQLite index files. Deprecated: file-based catalogs have replaced them."""


_database_option = click.option(
    *("-d", "--database"),
    type=click.Path(path_type=Path),
    default="bundles.db",
    show_default=True,
    help="The file.",
)
_debug_option = click.option("--debug", is_flag=True, expose_value=False, hidden=True)


def _options(command: Command) -> Command:
    """What the commands that change a file take."""
    permissive = click.option("--permissive", is_flag=True, expose_value=False, hidden=True)
    for option in (permissive, _debug_option, _database_option):
        command = option(command)
    return command


@registry.command("add", cls=GoCommand)
@click.option("-b", "--bundle-images", multiple=True, help="Bundle images, with commas.")
@click.option("-c", "--container-tool", expose_value=False, help="Accepted, not needed.")
@mode_option
@overwrite_option
@_options
@registry_options
@click.pass_obj
def add(
    registries: dict[str, Any],
    *,
    database: Path,
    bundle_images: tuple[str, ...],
    mode: str,
    overwrite_latest: bool,
) -> None:
    """Add bundles to an index file; one that is not there is made."""
    from opm.io.database_add import create

    click.echo(DEPRECATION, err=True)
    if not database.exists():
        create(database)
    images = names_of(",".join(bundle_images))
    add_images(database, images, mode, registries, overwrite_latest=overwrite_latest)


@registry.command("prune", cls=GoCommand)
@click.option("-p", "--packages", required=True, help="Packages to keep, with commas.")
@_options
def prune(*, database: Path, packages: str) -> None:
    """Keep some packages of an index file and remove the others."""
    from opm.io.database_edit import keep_packages

    keep_packages(_existing(database), names_of(packages))


@registry.command("rm", cls=GoCommand)
@click.option("-o", "--packages", required=True, help="Packages to remove, with commas.")
@_options
def rm(*, database: Path, packages: str) -> None:
    """Remove packages from an index file."""
    from opm.io.database_edit import remove_packages

    remove_packages(_existing(database), names_of(packages))


@registry.command("prune-stranded", cls=GoCommand)
@_options
def prune_stranded(*, database: Path) -> None:
    """Remove the bundles that no channel of an index file has."""
    from opm.io.database_edit import remove_stranded

    remove_stranded(_existing(database))


def _existing(database: Path) -> Path:
    click.echo(DEPRECATION, err=True)
    if not database.is_file():
        raise TerminalError(f"{database}: no such file", hint="name the file with --database")
    return database


@registry.command("serve", cls=GoCommand)
@_database_option
@click.option("-p", "--port", type=click.IntRange(0, 65535), default=50051, show_default=True)
@click.option(
    *("-t", "--termination-log"),
    type=click.Path(path_type=Path),
    default="/dev/termination-log",
    show_default=True,
    help="File to write the reason of its end to.",
)
@click.option("--skip-migrate", is_flag=True, expose_value=False, hidden=True)
@click.option("--timeout-seconds", expose_value=False, hidden=True)
@_debug_option
def serve(*, database: Path, port: int, termination_log: Path) -> None:
    """Serve an index file over gRPC (api.Registry), as index images do when they are run.

    \b
    Examples:
      opm registry serve --database database/index.db
      grpcurl -plaintext localhost:50051 api.Registry/ListPackages
    """
    from opm.commands.migrate import write_catalog
    from opm.commands.serve import cached, leaving_word, serve_catalog
    from opm.io.references import Reading, read_reference

    with leaving_word(termination_log), tempfile.TemporaryDirectory(prefix="opm-serve-") as work:
        records = read_reference(str(_existing(database)), Reading(remark=lambda _: None))
        source = Path(work, "catalog")
        write_catalog(records, source, "json")
        catalog = cached(source, Path(work, "cache"))
        serve_catalog(catalog, port, f"database={database}")
