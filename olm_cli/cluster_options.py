"""Options of commands that read a cluster and its catalogs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

CLUSTER_OPTIONS = (
    click.option(
        "--kubeconfig", metavar="FILE", help="How to reach the cluster; default: as kubectl does."
    ),
    click.option(
        "--catalogd-cas-dir",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        help="CAs to check catalogd with, where it is not asked through the API server.",
    ),
    click.option(
        "--allow-http-catalogs",
        is_flag=True,
        help="Read catalogs whose address has no TLS, too.",
    ),
)


def cluster_options(command: Command) -> Command:
    """Adds `CLUSTER_OPTIONS` to a command."""
    for option in reversed(CLUSTER_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """The values of `CLUSTER_OPTIONS`."""

    kubeconfig: str | None = None
    cas_dir: Path | None = None
    allow_http: bool = False

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """Of the arguments of a command."""
        return cls(
            options["kubeconfig"], options["catalogd_cas_dir"], options["allow_http_catalogs"]
        )
