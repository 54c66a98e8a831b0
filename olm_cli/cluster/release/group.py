"""`olm cluster release`: the images that hold the releases of a cluster."""

from collections.abc import Mapping
from types import MappingProxyType

import click

from olm_cli.command_shapes import quick_command
from olm_runtime.cli.command_line import Lazy, LazyGroup

_HERE = "olm_cli.cluster.release"

COMMANDS: Mapping[str, Lazy] = MappingProxyType(
    {
        "extract": Lazy(f"{_HERE}.extract", "extract", "Write the manifests of a release."),
        "info": Lazy(f"{_HERE}.info", "info", "Show what is in a release."),
        "new": Lazy(f"{_HERE}.new", "new", "Make a release of folders of manifests."),
        "verify": Lazy(f"{_HERE}.verify", "verify", "Check the signatures of a release."),
    }
)


@click.group(cls=LazyGroup, lazily=COMMANDS, completing=quick_command)
def release() -> None:
    """Make release images, look into them, and check their signatures.

    \b
    Examples:
      olm cluster release info registry.example.com/product@sha256:...
      olm cluster release new --version 1.0.1 ./alpha ./beta -t registry.example.com/p:1.0.1 --push
    """
