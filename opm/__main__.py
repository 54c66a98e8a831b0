"""The front of `opm`: which commands there are."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NoReturn

import click

from olm_runtime.cli.command_line import Lazy, LazyGroup, run
from opm.commands.registries import registry_options

COMMANDS: Mapping[str, Lazy] = MappingProxyType(
    {
        "alpha": Lazy("opm.commands.alpha", "alpha", "List, draw graphs, expand templates."),
        "build": Lazy("opm.commands.build", "build", "Make an image of a catalog or a bundle."),
        "completion": Lazy(
            "opm.commands.completion", "completion", "Print a shell's completion script."
        ),
        "copy": Lazy("opm.commands.copy", "copy", "Copy an image, to another registry or a disk."),
        "generate": Lazy("opm.commands.generate", "generate", "Generate a catalog's Dockerfile."),
        "index": Lazy("opm.commands.index", "index", "Change SQLite index images."),
        "init": Lazy("opm.commands.init", "init", "Begin a package: print its olm.package blob."),
        "login": Lazy("opm.commands.login", "login", "Log in to a registry."),
        "logout": Lazy("opm.commands.login", "logout", "Forget the login of a registry."),
        "migrate": Lazy("opm.commands.migrate", "migrate", "Write a catalog as a file-based one."),
        "mirror": Lazy("opm.commands.mirror", "mirror", "Copy a catalog with all its images."),
        "registry": Lazy("opm.commands.registry", "registry", "Change and serve SQLite indexes."),
        "render": Lazy("opm.commands.render", "render", "Print what catalogs and bundles hold."),
        "serve": Lazy("opm.commands.serve", "serve", "Serve a catalog over gRPC."),
        "validate": Lazy(
            "opm.commands.validate", "validate", "Check a catalog, all faults at once."
        ),
        "version": Lazy("opm.commands.version", "version", "Print the version."),
    }
)


@click.group(
    cls=LazyGroup, lazily=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(package_name="olmv1", prog_name="opm")
@registry_options
def cli() -> None:
    """Build, check and read file-based catalogs. Needs no container engine.

    \b
    Examples:
      opm init my-operator --default-channel=stable --output yaml > catalog/index.yaml
      opm render registry.example.com/my-operator-bundle:v1.0.0 -o yaml >> catalog/index.yaml
      opm validate catalog
      opm build catalog -t registry.example.com/my-catalog:latest --push
    """


def main() -> NoReturn:
    """Runs the command line. A wrong one ends with 1, as upstream's does."""
    run(cli, "opm", usage_error=1)


if __name__ == "__main__":
    main()
