"""`opm copy`: images from registry to registry, or by way of a disk."""

from typing import Any

import click

from olm_runtime.registry import workstation
from opm.commands.registries import registry_options
from opm.io import copying


@click.command("copy")
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="TARGET")
@registry_options
@click.pass_obj
def copy(registries: dict[str, Any], *, source: str, target: str) -> None:
    """Copy an image as it is: every platform, the same digest. Print where it is.

    SOURCE and TARGET are references, or oci:FOLDER:NAME for an image in an OCI image layout, which
    may be carried to where no network leads. What is there already is not copied again.

    \b
    Examples:
      opm copy registry.example.com/team/bundle:v1 mirror.example.org/team/bundle:v1
      opm copy registry.example.com/team/bundle:v1 oci:media:bundle
      opm copy oci:media:bundle mirror.example.org/team/bundle:v1
    """
    access = workstation.Registries(**registries)
    click.echo(copying.copy(copying.parse_place(source), copying.parse_place(target), access))
