"""`opm init`: the first blob of a package."""

from pathlib import Path

import click

from olm_content.fbc.records import Record
from olm_content.fbc.shapes import read
from olm_content.names import PACKAGE
from olm_runtime.errors import TerminalError
from opm.commands.output import output_option, show
from opm.icon import icon


@click.command("init")
@click.argument("package_name", metavar="PACKAGE")
@click.option("-c", "--default-channel", default="", help="Channel of users who name none.")
@click.option("-d", "--description", metavar="FILE", help="README or other description.")
@click.option("-i", "--icon", "icon_file", metavar="FILE", help="The package's icon, an image.")
@output_option
def init(
    *,
    package_name: str,
    default_channel: str,
    description: str | None,
    icon_file: str | None,
    output: str,
) -> None:
    """Print the olm.package blob that a package begins with.

    \b
    Example:
      opm init my-operator --default-channel=preview --description=./README.md \\
        --icon=./operator-icon.svg --output yaml > my-catalog/index.yaml
    """
    if not package_name.strip():
        raise TerminalError("a package has to have a name")
    value = read(
        "Package",
        {
            "schema": PACKAGE,
            "name": package_name,
            "defaultChannel": default_channel,
            "icon": icon(_content(icon_file)) if icon_file else None,
            "description": _text(description) if description else None,
        },
    )
    show([Record(PACKAGE, package_name, package_name, value)], output)


def _content(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise TerminalError(f"{file}: {error.strerror}") from error


def _text(file: str) -> str:
    return _content(file).decode("utf-8", errors="replace")
