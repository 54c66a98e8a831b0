"""Names of extensions for the shell's completion."""

from collections.abc import Mapping
from typing import Any

import click
from click.shell_completion import CompletionItem

from api.olm.v1 import names
from olm_cli.catalogs.at_once import listed_at_once
from olm_cli.kube_names import object_name


def known_extensions(
    ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The ClusterExtensions whose names begin so, where a plain kubeconfig leads to them."""
    found = listed_at_once(ctx, names.CLUSTER_EXTENSION) or ()
    named = ((each["metadata"]["name"], each) for each in found)
    return [
        CompletionItem(name, help=_package(each))
        for name, each in sorted(named, key=lambda pair: pair[0])
        if name.startswith(incomplete)
    ]


def _package(raw: Mapping[str, Any]) -> str:
    source = ((raw.get("spec") or {}).get("source") or {}).get("catalog") or {}
    return str(source.get("packageName") or "")


extension_argument = click.argument(
    "extension", callback=object_name, shell_complete=known_extensions
)
