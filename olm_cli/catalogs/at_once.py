"""What the cluster has, for completion: a shell does not wait."""

from typing import Any

import click

from olm_cli.cluster_options import reach_of

SECONDS = 1.0
"""Where the cluster needs longer, there is no completion."""


def listed_at_once(ctx: click.Context, kind: str) -> list[dict[str, Any]] | None:
    """All objects of the kind; None where a plain kubeconfig does not lead to them in time."""
    from olm_client.catalogs.quick_list import quick_list

    return quick_list(reach_of(ctx.params), kind, seconds=SECONDS)
