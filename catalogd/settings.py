"""Flags and environment, read here only. Upstream's flags have upstream's meaning."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from api.olm.v1 import names
from olm_catalogs.job import MAX_OBJECTS
from olm_content.fbc.limits import MAX_DOCUMENT_BYTES
from olm_runtime.cli.gates import Gate
from olm_runtime.cli.limit_flags import limit_options
from olm_runtime.cli.values import (
    Address,
    parse_address,
    parse_count,
    parse_interval,
    parse_served_address,
    parse_size,
    write_size,
)
from olm_runtime.images.limits import Limits
from olm_runtime.settings import DISTRIBUTION, DaemonSettings, daemon, read_settings

METAS_GATE = "APIV1MetasHandler"
GRAPHQL_GATE = "GraphQLCatalogQueries"
GATES = {
    METAS_GATE: Gate(default=True, alpha=True),
    GRAPHQL_GATE: Gate(default=False, alpha=True),
}
"""Feature gates by upstream's names. What is additive is on."""

DEFAULT_METRICS_ADDRESS = ":7443"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(DaemonSettings):
    """How catalogd runs."""

    tls_cert: Path
    tls_key: Path
    catalogs_address: Address
    external_address: str
    cache_dir: Path
    gc_interval: float
    webhook_port: int
    metrics_address: Address | None
    document_bytes: int
    objects: int

    @property
    def metas(self) -> bool:
        """Whether parts of catalogs are served."""
        return self.gates[METAS_GATE]

    @property
    def graphql(self) -> bool:
        """Whether queries are answered."""
        return self.gates[GRAPHQL_GATE]

    @property
    def base_url(self) -> str:
        """What `status.urls.base` begins with."""
        return f"https://{self.external_address}"


def parse_settings(arguments: Sequence[str] | None = None) -> Settings:
    """Settings from a command line; exits with a message and code 2 when it is wrong."""
    settings: Settings = read_settings(command, arguments)
    return settings


def _show_version(ctx: click.Context, _: click.Parameter, word: str | None) -> None:
    if word is not None:
        from importlib.metadata import version

        click.echo(f"{ctx.info_name} {version(DISTRIBUTION)}")
        ctx.exit()


@daemon("catalogd", gates=GATES, namespace=names.DEFAULT_SYSTEM_NAMESPACE)
@click.argument(
    "command",
    required=False,
    type=click.Choice(["version"]),
    is_eager=True,
    expose_value=False,
    callback=_show_version,
)
@click.option(
    "--catalogs-server-addr",
    "catalogs_address",
    type=parse_served_address,
    default=":8443",
    show_default=True,
    metavar="ADDRESS",
    help="Address of the content server.",
)
@click.option(
    "--external-address",
    default="catalogd-service.olmv1-system.svc",
    show_default=True,
    metavar="HOST[:PORT]",
    help="Where clients reach the content server.",
)
@click.option(
    "--cache-dir",
    type=click.Path(path_type=Path),
    default="/var/cache/catalogd",
    show_default=True,
    metavar="FOLDER",
    help="Folder of the contents; they stay over restarts.",
)
@click.option(
    "--gc-interval",
    type=parse_interval,
    default="12h",
    show_default=True,
    metavar="DURATION",
    help="How often content of deleted catalogs is looked for.",
)
@click.option(
    "--webhook-server-port",
    "webhook_port",
    type=int,
    default=9443,
    show_default=True,
    metavar="PORT",
    help="Port of the mutating webhook; 0 for none.",
)
@click.option(
    "--metrics-bind-address",
    default="",
    metavar="ADDRESS",
    help=f"Address of /metrics; 0 for none.  [default: {DEFAULT_METRICS_ADDRESS}]",
)
@limit_options(Limits())
@click.option(
    "--max-document-bytes",
    "document_bytes",
    type=parse_size,
    default=write_size(MAX_DOCUMENT_BYTES),
    show_default=True,
    metavar="SIZE",
    help="Size of one document of a catalog file.",
)
@click.option(
    "--max-catalog-objects",
    "objects",
    type=parse_count,
    default=str(MAX_OBJECTS),
    show_default=True,
    metavar="COUNT",
    help="Objects of a catalog.",
)
def command(*, metrics_bind_address: str, **given: Any) -> Settings:
    """Unpacks the catalogs that ClusterCatalogs name, and serves them over HTTPS."""
    if (given["tls_cert"] is None) != (given["tls_key"] is None):
        raise click.UsageError("tls-cert and tls-key flags must be used together")
    if given["tls_cert"] is None:
        if metrics_bind_address:
            raise click.UsageError("metrics-bind-address requires tls-cert and tls-key flags")
        raise click.UsageError(
            "tls-cert and tls-key flags are required: content is served over HTTPS only"
        )
    metrics_address = parse_address(metrics_bind_address or DEFAULT_METRICS_ADDRESS)
    return Settings(metrics_address=metrics_address, **given)
