"""Options that several of these commands share, and how they are read."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from api.olm.v1.clusterextension import UpgradeConstraintPolicy
from api.olm.v1.install_options import Enforcement
from olm_cli.catalogs.completing import known_channels, known_versions
from olm_cli.catalogs.options import catalog_option
from olm_cli.kube_names import namespace_name
from olm_content.render.options import CertificateProvider
from olm_runtime.cli.option_lists import with_options
from olm_runtime.cli.values import parse_patience

Command = TypeVar("Command", bound=Callable[..., Any])

_SPEC = (
    click.option(
        "--version",
        "versions",
        metavar="RANGE",
        shell_complete=known_versions,
        help="Versions to choose from.",
    ),
    click.option(
        "--channel",
        "channels",
        multiple=True,
        metavar="NAME",
        shell_complete=known_channels,
        help="A channel; may be repeated.",
    ),
    catalog_option,
    click.option(
        "--selector", metavar="LABELS", help="Labels of ClusterCatalogs, as kubectl takes them."
    ),
    click.option(
        "--watch-namespace",
        callback=namespace_name,
        metavar="NS",
        help="Default: all namespaces, if it can.",
    ),
    click.option("--config", "config_file", metavar="FILE", help="For spec.config.inline."),
    click.option(
        "--upgrade-constraint-policy",
        "policy",
        type=click.Choice([policy.value for policy in UpgradeConstraintPolicy]),
        help="Whether only the catalog's update edges count, or any version may follow.",
    ),
    click.option(
        "--crd-upgrade-safety",
        "crd_safety",
        type=click.Choice([enforcement.value for enforcement in Enforcement]),
        help="Whether unsafe changes of CustomResourceDefinitions are refused.",
    ),
)

_CERTIFICATES = click.option(
    "--certificate-provider",
    type=click.Choice([provider.value for provider in CertificateProvider]),
    help="Who issues serving certificates of webhooks; default: as the cluster.",
)

timeout_option = click.option(
    "--timeout",
    type=parse_patience,
    default="5m",
    show_default=True,
    metavar="DURATION",
    help="How long --wait waits.",
)


def spec_options(command: Command) -> Command:
    """Adds the options that are fields of a ClusterExtension's spec."""
    return with_options(command, _SPEC)


def source_options(command: Command) -> Command:
    """Adds the options that say how cluster, catalogs and registries are reached."""
    from olm_cli.cluster_options import cluster_options
    from olm_cli.registry_options import registry_options

    return with_options(cluster_options(registry_options(command)), (_CERTIFICATES,))
