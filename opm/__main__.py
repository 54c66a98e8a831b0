"""The front of `opm`: which commands there are."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NoReturn

import click

from olm_shared.runtime.command_line import Lazy, LazyGroup, run

COMMANDS: Mapping[str, Lazy] = MappingProxyType(
    {
        "alpha": Lazy("opm.commands.alpha", "alpha", "List, draw graphs, expand templates."),
        "generate": Lazy("opm.commands.generate", "generate", "Generate a catalog's Dockerfile."),
        "init": Lazy("opm.commands.init", "init", "Begin a package: print its olm.package blob."),
        "render": Lazy("opm.commands.render", "render", "Print what catalogs and bundles hold."),
        "validate": Lazy(
            "opm.commands.validate", "validate", "Check a catalog, all faults at once."
        ),
    }
)


@click.group(
    cls=LazyGroup, lazily=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(package_name="olmv1", prog_name="opm")
@click.option("--skip-tls-verify", is_flag=True, help="Take any certificate of a registry.")
@click.option("--use-http", is_flag=True, help="Speak to registries without TLS.")
@click.pass_context
def cli(ctx: click.Context, *, skip_tls_verify: bool, use_http: bool) -> None:
    """Build, check and read file-based catalogs. Needs no container engine.

    \b
    Examples:
      opm init my-operator --default-channel=stable --output yaml > catalog/index.yaml
      opm render registry.example.com/my-operator-bundle:v1.0.0 -o yaml >> catalog/index.yaml
      opm validate catalog
    """
    ctx.obj = {"skip_tls_verify": skip_tls_verify, "plain_http": use_http}


def main() -> NoReturn:
    """Runs the command line."""
    run(cli, "opm")


if __name__ == "__main__":
    main()
