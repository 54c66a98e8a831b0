"""`opm index`: changes SQLite index images, without a container engine."""

import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click

from olm_content.names import LABEL_INDEX_DATABASE
from olm_runtime.cli.go_command import GoCommand
from olm_runtime.cli.option_lists import with_options
from olm_runtime.errors import TerminalError
from opm.commands.databases import add_images, mode_option, names_of, overwrite_option
from opm.commands.registries import registry_options
from opm.index.dockerfile import DATABASE, DATABASE_LABELS, dockerfile
from opm.io.database_add import create
from opm.io.database_edit import keep_packages, remove_packages, remove_stranded
from opm.io.references import DEPRECATION

DOCKERFILE = "index.Dockerfile"
Command = TypeVar("Command", bound=Callable[..., Any])
Change = Callable[[Path], None]


@click.group("index")
def index() -> None:
    """Change SQLite index images. Deprecated: file-based catalogs have replaced them."""


def _options(*pull_tool: str, index_needed: bool = True) -> Callable[[Command], Command]:
    """What all commands take. Tools are named in the documents' commands; none is needed."""
    options = (
        click.option(
            *("-f", "--from-index"),
            required=index_needed,
            default=None if index_needed else "",
            help="Index image or database file.",
        ),
        click.option("-t", "--tag", default="", help="Reference of the new image."),
        click.option("-i", "--binary-image", default="", help="Base image of the Dockerfile."),
        click.option(
            "--generate", is_flag=True, help="Write Dockerfile and database, and push nothing."
        ),
        click.option(
            *("-d", "--out-dockerfile"), default="", help=f"Its name.  [default: {DOCKERFILE}]"
        ),
        click.option("-c", "--container-tool", expose_value=False, help="Accepted, not needed."),
        click.option("-u", "--build-tool", expose_value=False, help="Accepted, not needed."),
        click.option(*pull_tool, "--pull-tool", expose_value=False, help="Accepted, not needed."),
        click.option("--permissive", is_flag=True, expose_value=False, hidden=True),
        registry_options,
        click.pass_obj,
    )
    return partial(with_options, options=options)


@index.command("add", cls=GoCommand)
@click.option("-b", "--bundles", multiple=True, required=True, help="Bundle images, with commas.")
@mode_option
@overwrite_option
@_options("-p", index_needed=False)
def add(
    registries: dict[str, Any],
    *,
    bundles: tuple[str, ...],
    mode: str,
    overwrite_latest: bool,
    **how: Any,
) -> None:
    """Add bundles to an index, or begin one.

    By default the bundle of the highest version leads a channel, and what it replaces and skips is
    what it says itself. With --mode=semver bundles stand in the order of their versions; with
    semver-skippatch each also skips the earlier patches of its minor version. With --bundles ""
    the index is published anew.

    \b
    Examples:
      opm index add --bundles registry.example.com/my-bundle:v1.0.0 \\
        --tag registry.example.com/my-index:1.0.0
      opm index add --bundles registry.example.com/my-bundle:v1.1.0 \\
        --from-index registry.example.com/my-index:1.0.0 --tag registry.example.com/my-index:1.1.0
    """
    images = names_of(",".join(bundles))

    def change(path: Path) -> None:
        add_images(path, images, mode, registries, overwrite_latest=overwrite_latest)

    _change(registries, change, **how)


@index.command("export")
@click.option("-i", "--index", "source", required=True, help="Index image or database file.")
@click.option(
    *("-p", "-o", "--package", "packages"), multiple=True, help="Only these, with commas."
)
@click.option(
    *("-f", "--download-folder", "folder"),
    type=click.Path(path_type=Path),
    default="downloaded",
    show_default=True,
    help="Where the packages go.",
)
@click.option("-c", "--container-tool", expose_value=False, help="Accepted, not needed.")
@registry_options
@click.pass_obj
def export(
    registries: dict[str, Any], *, source: str, packages: tuple[str, ...], folder: Path
) -> None:
    """Write the manifests of an index's bundles, PACKAGE/VERSION each, and a package.yaml."""
    from opm.io.database_export import export_packages
    from opm.io.references import Reading

    click.echo(DEPRECATION, err=True)
    with tempfile.TemporaryDirectory(prefix="opm-index-") as work:
        database = Path(work, "index.db")
        _fetch(source, database, registries)
        chosen = names_of(",".join(packages))
        export_packages(database, chosen, folder, Reading(**registries))


@index.command("prune", cls=GoCommand)
@click.option("-p", "--packages", required=True, help="Packages to keep, with commas.")
@_options()
def prune(registries: dict[str, Any], *, packages: str, **how: Any) -> None:
    """Keep some packages of an index and remove the others.

    \b
    Example:
      opm index prune -f registry.example.com/index:v4.19 \\
        -p advanced-cluster-management,quay-operator -t registry.example.com/my-index:v4.19
    """
    _change(registries, lambda path: keep_packages(path, names_of(packages)), **how)


@index.command("rm", cls=GoCommand)
@click.option("-o", "--operators", required=True, help="Packages to remove, with commas.")
@_options("-p")
def rm(registries: dict[str, Any], *, operators: str, **how: Any) -> None:
    """Remove packages from an index."""
    _change(registries, lambda path: remove_packages(path, names_of(operators)), **how)


@index.command("prune-stranded", cls=GoCommand)
@_options("-p")
def prune_stranded(registries: dict[str, Any], **how: Any) -> None:
    """Remove the bundles that no channel of the index has."""
    _change(registries, remove_stranded, **how)


def _change(  # noqa: PLR0913 - one parameter an option
    registries: dict[str, Any],
    change: Change,
    *,
    from_index: str,
    tag: str,
    binary_image: str,
    generate: bool,
    out_dockerfile: str,
) -> None:
    if not (tag or generate):
        raise TerminalError("the index would go nowhere", hint="give --tag or --generate")
    click.echo(DEPRECATION, err=True)
    with tempfile.TemporaryDirectory(prefix="opm-index-") as work:
        database = Path(work, "index.db")
        _fetch(from_index, database, registries)
        change(database)
        if generate:
            _generate(database, dockerfile(binary_image), out_dockerfile or DOCKERFILE)
        else:
            _push(database, Path(work, "layout"), tag, registries)


def _fetch(reference: str, target: Path, registries: dict[str, Any]) -> None:
    """Copies the database of an image, or the file of a database; without either begins one."""
    if not reference:
        create(target)
        return
    from olm_runtime.registry.workstation import Registries, pulled
    from opm.io.references import inside_image, is_database, no_database

    if Path(reference).is_file():
        if not is_database(Path(reference)):
            raise no_database(Path(reference))
        shutil.copyfile(reference, target)
        return

    with pulled(reference, Registries(**registries)) as image:
        if LABEL_INDEX_DATABASE not in image.labels:
            raise TerminalError(
                f"{reference} is no SQLite index: it has no label {LABEL_INDEX_DATABASE}",
                hint="edit file-based catalogs with `opm render` and `opm build`",
            )
        shutil.copyfile(inside_image(image.folder, image.labels[LABEL_INDEX_DATABASE]), target)


def _generate(database: Path, text: str, name: str) -> None:
    target = Path(DATABASE)
    try:
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(database, target)
        Path(name).write_text(text)
    except OSError as error:
        raise TerminalError(f"{error.filename}: {error.strerror}") from error
    click.echo(f"wrote {name} and {target}", err=True)


def _push(database: Path, work: Path, tag: str, registries: dict[str, Any]) -> None:
    from olm_runtime.images.reference import parse_ref
    from olm_runtime.registry.workstation import Registries, push
    from opm.image import parse_platforms
    from opm.io.building import PLATFORMS, add_image
    from opm.io.layout import Layout

    ref = parse_ref(tag)
    layout = Layout(work)
    image = add_image(layout, {DATABASE: database}, DATABASE_LABELS, parse_platforms(PLATFORMS))
    push(layout.root, image, ref, Registries(**registries))
    click.echo(str(ref.canonical(image.digest)))
