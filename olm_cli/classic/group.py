"""`olm classic`: namespaces of OLM Classic."""

from collections.abc import Mapping
from types import MappingProxyType

import click

from olm_cli.command_shapes import quick_command
from olm_runtime.cli.command_line import Lazy, LazyGroup

_HERE = "olm_cli.classic"

COMMANDS: Mapping[str, Lazy] = MappingProxyType(
    {
        "plan": Lazy(f"{_HERE}.plan", "plan", "Show what the next InstallPlan would have."),
        "resolve": Lazy(f"{_HERE}.resolve", "resolve_command", "Find the bundles of a namespace."),
        "why": Lazy(f"{_HERE}.why", "why", "Explain why Subscriptions are where they are."),
    }
)


@click.group(cls=LazyGroup, lazily=COMMANDS, completing=quick_command)
def classic() -> None:
    """Work with namespaces of OLM Classic: Subscriptions, CatalogSources, OperatorGroups.

    Each command asks a cluster, or with --files no cluster at all.

    \b
    Examples:
      olm classic why -n operators
      olm classic plan -n operators
      olm classic resolve --files subscription.yaml --catalog community=./catalog
    """
