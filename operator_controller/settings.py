"""Flags and environment, read here only. Upstream's flags have upstream's meaning."""

import argparse
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path

from api.olm.v1 import names
from olm_content.render.options import CertificateProvider
from olm_runtime.cli.flags import (
    Gate,
    add_common,
    add_switch,
    feature_gates,
    log_level,
    parse_address,
    parse_count,
    parse_duration,
)
from olm_runtime.cli.limit_flags import add_limits, limits_of
from olm_runtime.controller.workqueue import DEFAULT_WORKERS
from olm_runtime.http.tls import TlsProfile, profile_of
from olm_runtime.images.limits import BUNDLE_LIMITS, Limits
from olm_runtime.kube.access import own_namespace
from operator_controller.certificates.policy import DEFAULT_LIFETIME, DEFAULT_SETTLE
from operator_controller.io.serving_certificates import ServingCertificate

GATES = {
    "SingleOwnNamespaceInstallSupport": Gate(default=True, alpha=True),
    "WebhookProviderCertManager": Gate(default=True),
    "WebhookProviderOpenshiftServiceCA": Gate(default=True),
    "BoxcutterRuntime": Gate(default=False, alpha=True),
    "DeploymentConfig": Gate(default=True, alpha=True),
    "BundleReleaseSupport": Gate(default=False, alpha=True),
    "PreflightPermissions": Gate(default=True),
}
"""Feature gates by upstream's names. What is additive is on."""

SETTLES_IN_LIFETIME = 6
"""A rotation begins when a third is left; it is to be over long before that third is."""

DISTRIBUTION = "olmv1"
RELEASE_VARIABLE = "OPERATOR_IMAGE_VERSION"
"""Set by whoever makes us part of a release of OpenShift, which waits for its own version."""
DEFAULT_METRICS_ADDRESS = ":8443"
DEFAULT_CACHE_PATH = Path("/var/cache/operator-controller")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MetricsSettings:
    """Where metrics are served, and the certificate to serve them with."""

    address: tuple[str, int]
    tls_cert: Path
    tls_key: Path


@dataclass(frozen=True, slots=True)
class ServingSettings:
    """The certificates that we issue for catalogd and ourselves, and the folder they are put in."""

    certificates: tuple[ServingCertificate, ...]
    folder: Path


@dataclass(frozen=True, slots=True)
class Settings:
    """How operator-controller runs."""

    kubeconfig: str | None
    system_namespace: str
    cache_path: Path
    catalogd_cas_dir: Path | None
    allow_http_catalogs: bool
    pull_cas_dir: Path | None
    global_pull_secret: tuple[str, str] | None
    limits: Limits
    tls_profile: TlsProfile
    metrics: MetricsSettings | None
    serving: ServingSettings | None
    health_address: tuple[str, int] | None
    leader_elect: bool
    workers: int
    allow_controller_identity: bool
    certificate_provider: CertificateProvider | None
    certificate_lifetime: timedelta
    certificate_settle: timedelta
    gates: dict[str, bool]
    release: str
    log_level: int


def parse_settings(arguments: Sequence[str] | None = None) -> Settings:
    """Settings from a command line; exits with a message and code 2 when it is wrong."""
    parser = _parser()
    given = parser.parse_args(arguments)
    try:
        gates = feature_gates(given.feature_gates, GATES, log)
        profile = profile_of(
            given.tls_profile,
            given.tls_custom_version,
            given.tls_custom_ciphers,
            given.tls_custom_curves,
        )
        metrics = _metrics(given)
        serving = _serving(given)
    except (argparse.ArgumentTypeError, ValueError) as error:
        parser.error(str(error))
    if given.metrics_bind_address and not given.tls_cert and not given.tls_key:
        parser.error("metrics-bind-address requires tls-cert and tls-key flags to be set")
    if bool(given.tls_cert) != bool(given.tls_key):
        parser.error(
            "unable to configure TLS certificates: tls-cert and tls-key flags must be used together"
        )
    if given.webhook_cert_settle * SETTLES_IN_LIFETIME > given.webhook_cert_lifetime:
        parser.error(
            f"webhook-cert-lifetime must be at least {SETTLES_IN_LIFETIME} times "
            "webhook-cert-settle: a rotation has a third of the lifetime"
        )
    provider = given.webhook_cert_provider
    return Settings(
        kubeconfig=given.kubeconfig or None,
        system_namespace=given.system_namespace or own_namespace(names.DEFAULT_SYSTEM_NAMESPACE),
        cache_path=given.cache_path,
        catalogd_cas_dir=Path(given.catalogd_cas_dir) if given.catalogd_cas_dir else None,
        allow_http_catalogs=given.allow_http_catalogs,
        pull_cas_dir=Path(given.pull_cas_dir) if given.pull_cas_dir else None,
        global_pull_secret=given.global_pull_secret,
        limits=limits_of(given),
        tls_profile=profile,
        metrics=metrics,
        serving=serving,
        health_address=given.health_probe_bind_address,
        leader_elect=given.leader_elect,
        workers=given.max_concurrent_reconciles,
        allow_controller_identity=given.allow_controller_identity,
        certificate_provider=CertificateProvider(provider) if provider else None,
        certificate_lifetime=timedelta(seconds=given.webhook_cert_lifetime),
        certificate_settle=timedelta(seconds=given.webhook_cert_settle),
        gates=gates,
        release=os.environ.get(RELEASE_VARIABLE) or version(DISTRIBUTION),
        log_level=log_level(given.klog_v),
    )


def _metrics(given: argparse.Namespace) -> MetricsSettings | None:
    """Metrics are served over TLS or not at all. Raises ArgumentTypeError."""
    address = parse_address(given.metrics_bind_address or DEFAULT_METRICS_ADDRESS)
    if address is None or not given.tls_cert:
        return None
    return MetricsSettings(address, Path(given.tls_cert), Path(given.tls_key))


def _serving(given: argparse.Namespace) -> ServingSettings | None:
    """Raises ValueError when the flags do not fit together."""
    webhooks: dict[str, list[str]] = {}
    for configuration, secret in given.serving_cert_webhook:
        webhooks.setdefault(secret, []).append(configuration)
    unknown = sorted(webhooks.keys() - {secret for secret, _ in given.serving_cert})
    if unknown:
        raise ValueError(f"serving-cert-webhook: there is no serving-cert {', '.join(unknown)}")
    if bool(given.serving_cert) != bool(given.serving_cert_dir):
        raise ValueError("serving-cert and serving-cert-dir flags must be used together")
    if not given.serving_cert:
        return None
    certificates = (
        ServingCertificate(secret, tuple(names.split(",")), tuple(webhooks.get(secret, ())))
        for secret, names in given.serving_cert
    )
    return ServingSettings(tuple(certificates), Path(given.serving_cert_dir))


def _pair(text: str) -> tuple[str, str]:
    before, _, after = text.partition(":")
    if not before or not after:
        raise argparse.ArgumentTypeError(f"{text!r} is no pair; say NAME:VALUE")
    return before, after


def _add_serving(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--serving-cert",
        action="append",
        default=[],
        type=_pair,
        metavar="SECRET:DNSNAME,...",
        help="certificate of catalogd or of ourselves to issue and rotate in this Secret",
    )
    parser.add_argument(
        "--serving-cert-dir",
        default="",
        help="folder that follows these Secrets: SECRET/tls.crt, SECRET/tls.key, SECRET/ca/ca.crt",
    )
    parser.add_argument(
        "--serving-cert-webhook",
        action="append",
        default=[],
        type=_pair,
        metavar="CONFIGURATION:SECRET",
        help="MutatingWebhookConfiguration whose webhooks serve with one of them",
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="operator-controller",
        description="Installs and updates the extensions that ClusterExtensions ask for.",
        allow_abbrev=False,
    )
    add_common(parser)
    parser.add_argument(
        "--catalogd-cas-dir", default="", help="folder of CA files to check catalogd with"
    )
    add_switch(
        parser,
        "--allow-http-catalogs",
        "read catalogs whose address has no TLS; whoever is in between can change what they say",
    )
    parser.add_argument(
        "--cache-path",
        type=Path,
        default=DEFAULT_CACHE_PATH,
        help="folder for unpacked bundles (default: %(default)s)",
    )
    parser.add_argument(
        "--health-probe-bind-address",
        type=parse_address,
        default=("", 8081),
        help="address of /healthz and /readyz (default: :8081)",
    )
    parser.add_argument(
        "--metrics-bind-address",
        default="",
        help="address of /metrics, which needs --tls-cert; 0 for none (default: :8443)",
    )
    parser.add_argument(
        "--max-concurrent-reconciles",
        type=parse_count,
        default=DEFAULT_WORKERS,
        help="extensions that are worked on side by side (default: %(default)s)",
    )
    parser.add_argument(
        "--webhook-cert-provider",
        choices=[provider.value for provider in CertificateProvider],
        help="who issues webhook certificates (default: what the cluster has)",
    )
    parser.add_argument(
        "--webhook-cert-lifetime",
        type=parse_duration,
        default=DEFAULT_LIFETIME.total_seconds(),
        metavar="DURATION",
        help="how long certificates of our own last (default: 2160h)",
    )
    parser.add_argument(
        "--webhook-cert-settle",
        type=parse_duration,
        default=DEFAULT_SETTLE.total_seconds(),
        metavar="DURATION",
        help="how long callers know a new CA before it is served with (default: 5m)",
    )
    _add_serving(parser)
    add_switch(
        parser,
        "--allow-controller-identity",
        "act with the controller's own rights where spec.serviceAccount is not set",
    )
    add_limits(parser, BUNDLE_LIMITS)
    return parser
