"""Flags and environment, read here only. Upstream's flags have upstream's meaning."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from api.olm.v1 import names
from olm_content.render.options import CertificateProvider
from olm_runtime.certificates.wanted import (
    DEFAULT_LIFETIME,
    DEFAULT_SETTLE,
    ServingCertificate,
)
from olm_runtime.cli.gates import Gate
from olm_runtime.cli.limit_flags import limit_options
from olm_runtime.cli.values import parse_address, parse_count, parse_duration, parse_pair
from olm_runtime.controller.workqueue import DEFAULT_WORKERS
from olm_runtime.images.limits import BUNDLE_LIMITS
from olm_runtime.settings import DISTRIBUTION, DaemonSettings, daemon, optional_path, read_settings

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

LEASE = "9c4404e7.operatorframework.io"
RELEASE_VARIABLE = "OPERATOR_IMAGE_VERSION"
"""Set by whoever makes us part of a release of OpenShift, which waits for its own version."""
DEFAULT_METRICS_ADDRESS = ":8443"
DEFAULT_CACHE_PATH = Path("/var/cache/operator-controller")

Pairs = tuple[tuple[str, str], ...]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(DaemonSettings):
    """How operator-controller runs."""

    cache_path: Path
    catalogd_cas_dir: Path | None
    allow_http_catalogs: bool
    metrics: MetricsSettings | None
    serving: ServingSettings | None
    workers: int
    allow_controller_identity: bool
    certificate_provider: CertificateProvider | None
    certificate_lifetime: timedelta
    certificate_settle: timedelta
    release: str


def parse_settings(arguments: Sequence[str] | None = None) -> Settings:
    """Settings from a command line; exits with a message and code 2 when it is wrong."""
    settings: Settings = read_settings(command, arguments)
    return settings


def _parse_timedelta(text: str) -> timedelta:
    return timedelta(seconds=parse_duration(text))


@daemon("operator-controller", gates=GATES, namespace=names.DEFAULT_SYSTEM_NAMESPACE)
@click.option(
    "--catalogd-cas-dir",
    type=optional_path,
    metavar="FOLDER",
    help="Folder of CA files to check catalogd with.",
)
@click.option(
    "--allow-http-catalogs",
    is_flag=True,
    help="Read catalogs whose address has no TLS; whoever is in between can change what they say.",
)
@click.option(
    "--cache-path",
    type=click.Path(path_type=Path),
    default=DEFAULT_CACHE_PATH,
    show_default=True,
    metavar="FOLDER",
    help="Folder for unpacked bundles.",
)
@click.option(
    "--metrics-bind-address",
    default="",
    metavar="ADDRESS",
    help="Address of /metrics, which needs --tls-cert; 0 for none.  "
    f"[default: {DEFAULT_METRICS_ADDRESS}]",
)
@click.option(
    "--max-concurrent-reconciles",
    "workers",
    type=parse_count,
    default=str(DEFAULT_WORKERS),
    show_default=True,
    metavar="COUNT",
    help="Extensions that are worked on side by side.",
)
@click.option(
    "--webhook-cert-provider",
    "certificate_provider",
    type=click.Choice([provider.value for provider in CertificateProvider]),
    callback=lambda _, __, provider: provider and CertificateProvider(provider),
    help="Who issues webhook certificates.  [default: what the cluster has]",
)
@click.option(
    "--webhook-cert-lifetime",
    "certificate_lifetime",
    type=_parse_timedelta,
    default=f"{DEFAULT_LIFETIME // timedelta(hours=1)}h",
    show_default=True,
    metavar="DURATION",
    help="How long certificates of our own last.",
)
@click.option(
    "--webhook-cert-settle",
    "certificate_settle",
    type=_parse_timedelta,
    default=f"{DEFAULT_SETTLE // timedelta(minutes=1)}m",
    show_default=True,
    metavar="DURATION",
    help="How long callers know a new CA before it is served with.",
)
@click.option(
    "--serving-cert",
    type=parse_pair,
    multiple=True,
    metavar="SECRET:DNSNAME,...",
    help="Certificate of catalogd or of ourselves to issue and rotate in this Secret.",
)
@click.option(
    "--serving-cert-dir",
    type=optional_path,
    metavar="FOLDER",
    help="Folder that follows these Secrets: SECRET/tls.crt, SECRET/tls.key, SECRET/ca/ca.crt.",
)
@click.option(
    "--serving-cert-webhook",
    type=parse_pair,
    multiple=True,
    metavar="CONFIGURATION:SECRET",
    help="MutatingWebhookConfiguration whose webhooks serve with one of them.",
)
@click.option(
    "--allow-controller-identity",
    is_flag=True,
    help="Act with the controller's own rights where spec.serviceAccount is not set.",
)
@limit_options(BUNDLE_LIMITS)
def command(
    *,
    metrics_bind_address: str,
    serving_cert: Pairs,
    serving_cert_dir: Path | None,
    serving_cert_webhook: Pairs,
    **given: Any,
) -> Settings:
    """Installs and updates the extensions that ClusterExtensions ask for."""
    settings = Settings(
        metrics=_metrics(metrics_bind_address, given["tls_cert"], given["tls_key"]),
        serving=_serving(serving_cert, serving_cert_dir, serving_cert_webhook),
        release=os.environ.get(RELEASE_VARIABLE) or version(DISTRIBUTION),
        **given,
    )
    if settings.certificate_settle * SETTLES_IN_LIFETIME > settings.certificate_lifetime:
        raise click.UsageError(
            f"webhook-cert-lifetime must be at least {SETTLES_IN_LIFETIME} times "
            "webhook-cert-settle: a rotation has a third of the lifetime"
        )
    return settings


def _metrics(text: str, cert: Path | None, key: Path | None) -> MetricsSettings | None:
    """Metrics are served over TLS or not at all."""
    address = parse_address(text or DEFAULT_METRICS_ADDRESS)
    if text and cert is None and key is None:
        raise click.UsageError("metrics-bind-address requires tls-cert and tls-key flags to be set")
    if (cert is None) != (key is None):
        raise click.UsageError(
            "unable to configure TLS certificates: tls-cert and tls-key flags must be used together"
        )
    if address is None or cert is None or key is None:
        return None
    return MetricsSettings(address, cert, key)


def _serving(certs: Pairs, folder: Path | None, by_webhook: Pairs) -> ServingSettings | None:
    webhooks: dict[str, list[str]] = {}
    for configuration, secret in by_webhook:
        webhooks.setdefault(secret, []).append(configuration)
    unknown = sorted(webhooks.keys() - {secret for secret, _ in certs})
    if unknown:
        raise click.UsageError(
            f"serving-cert-webhook: there is no serving-cert {', '.join(unknown)}"
        )
    if bool(certs) != bool(folder):
        raise click.UsageError("serving-cert and serving-cert-dir flags must be used together")
    if folder is None:
        return None
    certificates = (
        ServingCertificate(secret, tuple(names.split(",")), tuple(webhooks.get(secret, ())))
        for secret, names in certs
    )
    return ServingSettings(tuple(certificates), folder)
