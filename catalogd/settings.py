"""Flags and environment, read here only. Upstream's flags have upstream's meaning."""

import argparse
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from api.olm.v1 import names
from catalogd.job import MAX_OBJECTS
from olm_content.fbc.documents import MAX_DOCUMENT_BYTES
from olm_runtime.cli.flags import (
    Gate,
    add_common,
    feature_gates,
    log_level,
    parse_address,
    parse_count,
    parse_duration,
    parse_size,
)
from olm_runtime.cli.limit_flags import add_limits, limits_of
from olm_runtime.http.tls import TlsProfile, profile_of
from olm_runtime.images.limits import Limits
from olm_runtime.kube.access import own_namespace

METAS_GATE = "APIV1MetasHandler"
GATES = {
    METAS_GATE: Gate(default=True, alpha=True),
    "GraphQLCatalogQueries": Gate(
        default=False, alpha=True, without_effect="there is no GraphQL endpoint"
    ),
}
"""Feature gates by upstream's names. What is additive is on."""

DISTRIBUTION = "olmv1"
DEFAULT_CACHE_DIR = Path("/var/cache/catalogd")
DEFAULT_EXTERNAL_ADDRESS = "catalogd-service.olmv1-system.svc"
DEFAULT_METRICS_ADDRESS = ":7443"

log = logging.getLogger(__name__)

Address = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How catalogd runs. An address that is None is not served."""

    kubeconfig: str | None
    system_namespace: str
    catalogs_address: Address
    external_address: str
    cache_dir: Path
    gc_interval: float
    tls_cert: Path
    tls_key: Path
    tls_profile: TlsProfile
    webhook_port: int
    metrics_address: Address | None
    health_address: Address | None
    leader_elect: bool
    pull_cas_dir: Path | None
    global_pull_secret: tuple[str, str] | None
    metas: bool
    limits: Limits
    document_bytes: int
    objects: int
    log_level: int

    @property
    def base_url(self) -> str:
        """What `status.urls.base` begins with."""
        return f"https://{self.external_address}"


def parse_settings(arguments: Sequence[str] | None = None) -> Settings:
    """Settings from a command line; exits with a message and code 2 when it is wrong."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if given.command == "version":
        parser.exit(message=f"catalogd {version(DISTRIBUTION)}\n")
    try:
        gates = feature_gates(given.feature_gates, GATES, log)
        profile = profile_of(
            given.tls_profile,
            given.tls_custom_version,
            given.tls_custom_ciphers,
            given.tls_custom_curves,
        )
        metrics_address = parse_address(given.metrics_bind_address or DEFAULT_METRICS_ADDRESS)
    except (argparse.ArgumentTypeError, ValueError) as error:
        parser.error(str(error))
    if bool(given.tls_cert) != bool(given.tls_key):
        parser.error("tls-cert and tls-key flags must be used together")
    if not given.tls_cert:
        if given.metrics_bind_address:
            parser.error("metrics-bind-address requires tls-cert and tls-key flags")
        parser.error("tls-cert and tls-key flags are required: content is served over HTTPS only")
    return Settings(
        kubeconfig=given.kubeconfig,
        system_namespace=given.system_namespace or own_namespace(names.DEFAULT_SYSTEM_NAMESPACE),
        catalogs_address=given.catalogs_server_addr,
        external_address=given.external_address,
        cache_dir=given.cache_dir,
        gc_interval=given.gc_interval,
        tls_cert=Path(given.tls_cert),
        tls_key=Path(given.tls_key),
        tls_profile=profile,
        webhook_port=given.webhook_server_port,
        metrics_address=metrics_address,
        health_address=given.health_probe_bind_address,
        leader_elect=given.leader_elect,
        pull_cas_dir=Path(given.pull_cas_dir) if given.pull_cas_dir else None,
        global_pull_secret=given.global_pull_secret,
        metas=gates[METAS_GATE],
        limits=limits_of(given),
        document_bytes=given.max_document_bytes,
        objects=given.max_catalog_objects,
        log_level=log_level(given.klog_v),
    )


def _required_address(text: str) -> Address:
    address = parse_address(text)
    if address is None:
        raise argparse.ArgumentTypeError("content must be served somewhere; say HOST:PORT or :PORT")
    return address


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="catalogd",
        description="Unpacks the catalogs that ClusterCatalogs name, and serves them over HTTPS.",
        allow_abbrev=False,
    )
    add_common(parser)
    parser.add_argument("command", nargs="?", choices=("version",), help="show the version")
    parser.add_argument(
        "--catalogs-server-addr",
        type=_required_address,
        default=("", 8443),
        help="address of the content server (default: :8443)",
    )
    parser.add_argument(
        "--external-address",
        default=DEFAULT_EXTERNAL_ADDRESS,
        help="HOST[:PORT] under which clients reach the content server (default: %(default)s)",
    )
    parser.add_argument(
        "--cache-dir",
        type=Path,
        default=DEFAULT_CACHE_DIR,
        help="folder of the contents; kept over restarts (default: %(default)s)",
    )
    parser.add_argument(
        "--gc-interval",
        type=parse_duration,
        default="12h",
        help="how often content of deleted catalogs is looked for (default: %(default)s)",
    )
    parser.add_argument(
        "--webhook-server-port",
        type=int,
        default=9443,
        help="port of the mutating webhook; 0 for none (default: %(default)s)",
    )
    parser.add_argument(
        "--metrics-bind-address",
        default="",
        help="address of /metrics; 0 for none (default: :7443)",
    )
    parser.add_argument(
        "--health-probe-bind-address",
        type=parse_address,
        default=("", 8081),
        help="address of /healthz and /readyz (default: :8081)",
    )
    limits = add_limits(parser, Limits())
    limits.add_argument(
        "--max-document-bytes",
        type=parse_size,
        default=MAX_DOCUMENT_BYTES,
        metavar="SIZE",
        help="size of one document of a catalog file (default: %(default)s)",
    )
    limits.add_argument(
        "--max-catalog-objects",
        type=parse_count,
        default=MAX_OBJECTS,
        metavar="COUNT",
        help="objects of a catalog (default: %(default)s)",
    )
    return parser
