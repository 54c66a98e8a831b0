"""`olm cluster`: the version of a cluster and its updates."""

from collections.abc import Mapping
from types import MappingProxyType

import click

from olm_cli.command_shapes import quick_command
from olm_runtime.cli.command_line import Lazy, LazyGroup

_HERE = "olm_cli.cluster"

COMMANDS: Mapping[str, Lazy] = MappingProxyType(
    {
        "channel": Lazy(f"{_HERE}.channel", "channel", "Take updates from another channel."),
        "graph": Lazy(f"{_HERE}.graph", "graph", "Draw which release leads to which."),
        "recommend": Lazy(
            f"{_HERE}.recommend", "recommend", "Say what speaks against each update."
        ),
        "release": Lazy(
            f"{_HERE}.release.group", "release", "Make, show and verify release images."
        ),
        "status": Lazy(f"{_HERE}.status", "status", "Tell how far an update is."),
        "upgrade": Lazy(f"{_HERE}.upgrade", "upgrade", "Show updates, or ask for one."),
    }
)


@click.group(cls=LazyGroup, lazily=COMMANDS, completing=quick_command)
def cluster() -> None:
    """See which version a cluster has, and bring it to another one.

    \b
    Examples:
      olm cluster status --watch
      olm cluster recommend
      olm cluster graph
      olm cluster upgrade --include-not-recommended
      olm cluster upgrade --to 4.10.26
      olm cluster channel stable-4.11
    """
