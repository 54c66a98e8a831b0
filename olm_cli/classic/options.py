"""The options that say which namespace of OLM Classic is meant, and where it is read from."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from olm_classic.dialect import Dialect
from olm_cli.cluster_options import reach_options
from olm_cli.kube_names import namespace_name
from olm_cli.registry_options import registry_options
from olm_runtime.cli.option_lists import with_options

Command = TypeVar("Command", bound=Callable[..., Any])

GLOBAL = "olm"


def world_options(command: Command) -> Command:
    """Adds the options that say which namespace is meant, and where it is read from."""
    options = (
        click.option(
            "-n", "--namespace", metavar="NAME", callback=namespace_name,
            help="The namespace. Default: that of the Subscriptions in --files.",
        ),
        click.option(
            "--files", multiple=True, type=click.Path(exists=True, path_type=Path),
            help="Kubernetes YAML in place of a cluster, a file or a folder. May be repeated.",
        ),
        click.option(
            "--catalog", "catalogs", multiple=True, metavar="NAME=FOLDER|IMAGE",
            help="The content of a CatalogSource; NAMESPACE/NAME for one that is not global. "
            "Default: its spec.image, pulled. May be repeated.",
        ),
        click.option(
            "--global-namespace", default=GLOBAL, show_default=True, metavar="NAME",
            callback=namespace_name, help="Where catalogs for all namespaces are.",
        ),
        click.option(
            "--resolution-dialect", "dialect", type=click.Choice([str(each) for each in Dialect]),
            default=str(Dialect.DOCUMENTS), show_default=True,
            help="Whose rules are followed where the documents and upstream differ.",
        ),
    )  # fmt: skip
    return with_options(reach_options(registry_options(command)), options)
