"""`opm alpha`: lists, pictures of update graphs, templates; its bundles are in `extract`."""

import sys
from pathlib import Path
from typing import Any

import click

from olm_catalogs.validate import check
from olm_content.fbc.documents import parse
from olm_content.fbc.records import Record
from olm_runtime.errors import TerminalError
from olm_runtime.suggestions import suggestion_or_all
from opm import listing
from opm.commands.extract import bundle
from opm.commands.output import output_option, show
from opm.commands.registries import registry_options
from opm.commands.render import migrate_level_option
from opm.io.references import Reading, is_database, read_reference
from opm.migrate import migrate
from opm.templates import (
    BASIC,
    TEMPLATES,
    blobs_to_basic,
    expand_basic,
    expand_semver,
    parse_template,
    to_basic,
)

table_output_option = click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "json", "yaml"]),
    default="table",
    show_default=True,
    help="A table for people, or a list of its rows.",
)


@click.group("alpha")
@registry_options
def alpha() -> None:
    """Work with catalogs in ways that may still change."""


alpha.add_command(bundle)


@alpha.group("list")
@registry_options
def list_() -> None:
    """List what a catalog holds, as a table or for programs; `opm render` prints all of it."""


@list_.command("packages")
@click.argument("catalog")
@table_output_option
@registry_options
@click.pass_obj
def list_packages(registries: dict[str, Any], *, output: str, catalog: str) -> None:
    """List the packages of a catalog image, folder or database."""
    _print(listing.packages(_sound(catalog, registries)), output)


@list_.command("channels")
@click.argument("catalog")
@click.argument("package", default="")
@table_output_option
@registry_options
@click.pass_obj
def list_channels(registries: dict[str, Any], *, output: str, catalog: str, package: str) -> None:
    """List the channels of one package or of all."""
    _print(listing.channels(_sound(catalog, registries), package), output)


@list_.command("bundles")
@click.argument("catalog")
@click.argument("package", default="")
@table_output_option
@registry_options
@click.pass_obj
def list_bundles(registries: dict[str, Any], *, output: str, catalog: str, package: str) -> None:
    """List the bundles of one package or of all, by channel."""
    _print(listing.bundles(_sound(catalog, registries), package), output)


def _catalog(reference: str, registries: dict[str, Any]) -> list[Record]:
    return read_reference(reference, Reading(bundles_allowed=False, **registries))


def _sound(reference: str, registries: dict[str, Any]) -> list[Record]:
    """The catalog. Raises TerminalError with its faults, if it has any."""
    records = _catalog(reference, registries)
    faults = [str(fault) for fault in check(records) if not fault.warning]
    if faults:
        raise TerminalError(
            "\n".join(["the catalog has faults", *faults]),
            hint="`opm render` prints what is in it all the same",
        )
    return records


def _print(table: listing.Table, output: str) -> None:
    from opm.text import json_text, yaml_text

    if output == "table":
        click.echo(table.text(), nl=False)
    else:
        sys.stdout.buffer.write((json_text if output == "json" else yaml_text)(table.rows))


@alpha.command("render-graph")
@click.argument("catalog")
@click.option("-p", "--package-name", default="", help="Only this package.")
@click.option("--minimum-edge", default="", help="The oldest entry to show.")
@click.option("--draw-v0-semantics", is_flag=True, help="Mark what OLM Classic would not take.")
@click.option(
    "-o",
    "--output",
    type=click.Choice(["mermaid", "svg"]),
    default="mermaid",
    show_default=True,
    help="A diagram as text, or a picture.",
)
@registry_options
@click.pass_obj
def render_graph(
    registries: dict[str, Any],
    *,
    catalog: str,
    package_name: str,
    minimum_edge: str,
    draw_v0_semantics: bool,
    output: str,
) -> None:
    """Print the update graph of a catalog, as a Mermaid diagram or an SVG picture."""
    from olm_content.fbc.graph import from_edge, graph, of_package
    from opm.mermaid import mermaid
    from opm.picture import picture

    drawn = graph(_catalog(catalog, registries))
    if package_name:
        known = {channel.package for channel in drawn.channels}
        if package_name not in known:
            hint = suggestion_or_all(package_name, sorted(known), none="there is none")
            raise TerminalError(f'package "{package_name}" not found', hint=hint)
        drawn = of_package(drawn, package_name)
    if minimum_edge:
        drawn = from_edge(drawn, minimum_edge)
    text = picture(drawn) if output == "svg" else mermaid(drawn, v0=draw_v0_semantics)
    click.echo(text, nl=not text.endswith("\n"))


@alpha.command("render-template")
@click.argument("arguments", nargs=-1, metavar="[TYPE] [FILE]")
@click.option(
    "-o",
    "--output",
    type=click.Choice(["json", "yaml", "mermaid"]),
    default="json",
    show_default=True,
    help="Format of the printed objects; mermaid draws their update graph.",
)
@migrate_level_option
@registry_options
@click.pass_obj
def render_template(
    registries: dict[str, Any], *, arguments: tuple[str, ...], output: str, migrate_level: str
) -> None:
    """Expand a catalog template of type basic or semver; its schema says which.

    FILE is - or missing for standard input. Bundles are named by image or by folder.

    \b
    Example:
      opm alpha render-template semver template.yaml -o yaml > catalog/index.yaml
    """
    kind, file = _template_arguments(arguments)
    kind, document = parse_template(_content(file), kind)
    how = Reading(**registries)

    def render(image: str) -> list[Record]:
        return read_reference(image, how)

    expand = expand_basic if kind == BASIC else expand_semver
    records = migrate(expand(document, render), migrate_level)
    if output == "mermaid":
        from olm_content.fbc.graph import graph
        from opm.mermaid import mermaid

        click.echo(mermaid(graph(records), v0=True), nl=False)
    else:
        show(records, output)


def _template_arguments(arguments: tuple[str, ...]) -> tuple[str, str]:
    if len(arguments) > 2:
        raise TerminalError("too many arguments", hint="give a type, a file, or both")
    kind = arguments[0] if arguments and arguments[0] in TEMPLATES else ""
    files = arguments[1:] if kind else arguments
    if len(files) > 1:
        raise TerminalError(
            f'unknown template type "{arguments[0]}"', hint=f"one of: {', '.join(TEMPLATES)}"
        )
    return kind, files[0] if files else "-"


def _content(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise TerminalError(f"{file}: {error.strerror}") from error


@alpha.group("convert-template")
@registry_options
def convert_template() -> None:
    """Make a template of a catalog."""


@convert_template.command("basic")
@click.argument("catalog", default="-", metavar="[FILE|CATALOG]")
@output_option
@registry_options
@click.pass_obj
def convert_basic(registries: dict[str, Any], *, catalog: str, output: str) -> None:
    """Print the basic template that a catalog is an expansion of.

    The catalog is a file, standard input (-, or nothing given), a folder, an image or a database.
    """
    from opm.text import json_text, yaml_text

    template = _basic_of(catalog, registries)
    text = json_text(template) if output == "json" else yaml_text(template)
    sys.stdout.buffer.write(text)


def _basic_of(catalog: str, registries: dict[str, Any]) -> dict[str, Any]:
    if catalog != "-" and (not Path(catalog).is_file() or is_database(Path(catalog))):
        return to_basic(_catalog(catalog, registries))
    return blobs_to_basic(parse(_content(catalog), path="stdin" if catalog == "-" else catalog))
