"""Flags, read here only. Those of upstream and of API servers mean what they mean there."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import click

from olm_classic.names import DEFAULT_NAMESPACE
from olm_runtime.aggregation.front_proxy import FrontProxy
from olm_runtime.certificates.wanted import DEFAULT_LIFETIME, DEFAULT_SETTLE
from olm_runtime.cli.go_command import GoCommand
from olm_runtime.cli.option_lists import with_options
from olm_runtime.cli.values import Address, parse_address, parse_duration, parse_interval
from olm_runtime.http.tls import TlsProfile, custom_profile
from olm_runtime.kube.access import own_namespace
from olm_runtime.logs import LogFormat
from olm_runtime.settings import DISTRIBUTION, klog_options, optional_path, read_settings

NAME = "package-server"
API_SERVICE = "v1.packages.operators.coreos.com"
ALWAYS_ALLOWED = "/healthz,/readyz,/livez"
GO_VERSIONS = {f"VersionTLS1{minor}": f"TLSv1.{minor}" for minor in range(4)}
WITHOUT_EFFECT = (
    "audit-log-format", "audit-log-maxage", "audit-log-maxbackup", "audit-log-maxsize",
    "audit-log-path", "audit-policy-file", "feature-gates", "http2-max-streams-per-connection",
    "shutdown-delay-duration", "tracing-config-file",
)  # fmt: skip
SWITCHES_WITHOUT_EFFECT = (
    "authentication-skip-lookup", "authentication-tolerate-lookup-failure", "contention-profiling",
    "disable-http2-serving", "permit-address-sharing", "permit-port-sharing", "profiling",
)  # fmt: skip

Option = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class CertificateFiles:
    """A certificate of somebody else's, and its key."""

    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class OwnCertificate:
    """A certificate that we issue and renew.

    secret       its Secret, in the namespace of our own objects
    service      the Service in front of us: the certificate is for its names
    api_service  the APIService that is to trust it; empty for none
    folder       where it is written to; None for a temporary one
    settle       how long all have trusted a CA before it is served with
    """

    secret: str
    service: str
    api_service: str
    folder: Path | None
    lifetime: timedelta
    settle: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How package-server runs. Durations are in seconds; None as an address: not served.

    global_namespace       whose catalogs are for all namespaces
    sync_seconds           catalogs are read again this often, whatever changed
    front_proxy            who may name callers to us; None to read it from the cluster
    client_authorities     CAs (PEM) of callers; None to read them from the cluster
    remember_seconds       for how long it is known whose a token is
    allowed_seconds, denied_seconds  for how long it is known what somebody may do
    always_allowed         paths that everybody may get
    authentication, authorization    kubeconfigs of who is asked about callers; None as `kubeconfig`
    """

    kubeconfig: str | None
    authentication: str | None
    authorization: str | None
    system_namespace: str
    global_namespace: str
    sync_seconds: float
    address: Address
    certificate: CertificateFiles | OwnCertificate
    tls_profile: TlsProfile
    front_proxy: FrontProxy | None
    client_authorities: str | None
    remember_seconds: float
    allowed_seconds: float
    denied_seconds: float
    always_allowed: tuple[str, ...]
    health_address: Address | None
    metrics_address: Address | None
    log_level: int
    log_format: LogFormat


def parse_settings(arguments: Sequence[str] | None = None) -> Settings:
    """Settings from a command line; exits with a message and code 2 when it is wrong."""
    settings: Settings = read_settings(command, arguments)
    return settings


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in map(str.strip, text.split(",")) if word)


def _duration(name: str, default: str, text: str) -> Option:
    return click.option(
        name, type=parse_duration, default=default, show_default=True, metavar="DURATION", help=text
    )


def _text(name: str, default: str, text: str, metavar: str = "NAME") -> Option:
    return click.option(name, default=default, show_default=True, metavar=metavar, help=text)


def _file(name: str, text: str) -> Option:
    return click.option(name, type=optional_path, metavar="FILE", help=text)


def _list(name: str, text: str, default: str = "") -> Option:
    return click.option(
        name, default=default, show_default=bool(default), metavar="NAMES",
        callback=lambda _, __, given: _words(given), help=text,
    )  # fmt: skip


def _of_catalogs() -> tuple[Option, ...]:
    return (
        click.option("--interval", type=parse_interval, default="12h", show_default=True,
                     metavar="DURATION", help="How often catalogs are read again, whatever "
                     "changed."),
        click.option("--global-namespace", default="", metavar="NAME",
                     help="Namespace of the catalogs for all namespaces.  [default: our own]"),
        click.option("--namespace", "--system-namespace", "system_namespace", default="",
                     metavar="NAME", help="Namespace of our own objects.  [default: the pod's, "
                     f"or {DEFAULT_NAMESPACE}]"),
        click.option("--kubeconfig", callback=lambda _, __, text: text or None, metavar="FILE",
                     help="Kubeconfig file.  [default: the pod's own account]"),
    )  # fmt: skip


def _of_serving() -> tuple[Option, ...]:
    return (
        click.option("--secure-port", type=click.IntRange(1, 65535), default=5443,
                     show_default=True, metavar="PORT", help="Port of the API, over TLS."),
        _text("--bind-address", "::", "Address of the API; :: and 0.0.0.0 are all.", "IP"),
        _file("--tls-cert-file", "Certificate file; one of our own without."),
        _file("--tls-private-key-file", "Key file of the certificate."),
        click.option("--cert-dir", type=optional_path, metavar="FOLDER",
                     help="Folder for our own certificate.  [default: a temporary one]"),
        _text("--serving-secret", "package-server-cert", "Secret of our own certificate."),
        _text("--service-name", NAME, "Service in front of us, for our own certificate."),
        _text("--api-service", API_SERVICE, "APIService that is to trust our own certificate."),
        _duration("--certificate-lifetime", f"{DEFAULT_LIFETIME.days * 24}h",
                  "Of our own certificate; renewed after two thirds."),
        _duration("--certificate-settle", f"{DEFAULT_SETTLE.seconds}s",
                  "Time for a new CA to be known before it is served with."),
        click.option("--tls-min-version", type=click.Choice(list(GO_VERSIONS)),
                     default="VersionTLS12", show_default=True),
        click.option("--tls-cipher-suites", default="", metavar="NAMES",
                     help="Comma list, for TLS up to 1.2."),
    )  # fmt: skip


def _of_callers() -> tuple[Option, ...]:
    where = "in place of what kube-system/extension-apiserver-authentication says."
    return (
        _file("--requestheader-client-ca-file", f"CA of who may tell us of callers, {where}"),
        _list("--requestheader-allowed-names", "Names in its certificates; none for any."),
        _list("--requestheader-username-headers", "Headers with the user.", "x-remote-user"),
        _list("--requestheader-uid-headers", "Headers with the user's UID.", "x-remote-uid"),
        _list("--requestheader-group-headers", "Headers with the groups.", "x-remote-group"),
        _list("--requestheader-extra-headers-prefix", "Prefixes of headers with more.",
              "x-remote-extra-"),
        _file("--client-ca-file", f"CA of callers' certificates, {where}"),
        click.option("--authentication-kubeconfig", "authentication", metavar="FILE",
                     callback=lambda _, __, text: text or None,
                     help="Of who is asked whose a token is.  [default: --kubeconfig]"),
        click.option("--authorization-kubeconfig", "authorization", metavar="FILE",
                     callback=lambda _, __, text: text or None,
                     help="Of who is asked what somebody may do.  [default: --kubeconfig]"),
        _duration("--authentication-token-webhook-cache-ttl", "10s", "Whose a token is, kept."),
        _duration("--authorization-webhook-cache-authorized-ttl", "10s", "What may be done, kept."),
        _duration("--authorization-webhook-cache-unauthorized-ttl", "10s", "What may not, kept."),
        _list("--authorization-always-allow-paths", "Paths that all may get.", ALWAYS_ALLOWED),
    )  # fmt: skip


def _of_process() -> tuple[Option, ...]:
    ignored = partial(click.option, hidden=True, expose_value=False)
    return (
        click.option("--health-probe-bind-address", "health_address", type=parse_address,
                     default=":8081", show_default=True, metavar="ADDRESS",
                     help="Address of /healthz and /readyz; 0 for none."),
        click.option("--metrics-bind-address", "metrics_address", type=parse_address,
                     default=":8080", show_default=True, metavar="ADDRESS",
                     help="Address of /metrics; 0 for none. The API has it, too, over TLS."),
        click.option("--logging-format", "log_format", default=LogFormat.TEXT.value,
                     show_default=True, type=click.Choice([each.value for each in LogFormat]),
                     callback=lambda _, __, text: LogFormat(text)),
        click.option("--debug", is_flag=True, help="Log reasons, too; as -v=4."),
        click.version_option(package_name=DISTRIBUTION, prog_name=NAME),
        click.option("--tls-sni-cert-key", callback=_refuse_sni, expose_value=False, hidden=True),
        *klog_options(),
        *(ignored(f"--{name}") for name in WITHOUT_EFFECT),
        *(ignored(f"--{name}", is_flag=True) for name in SWITCHES_WITHOUT_EFFECT),
    )  # fmt: skip


def _refuse_sni(_: object, __: object, text: str | None) -> None:
    if text:
        raise click.UsageError(
            "--tls-sni-cert-key is not supported: there is one certificate; "
            "give it with --tls-cert-file and --tls-private-key-file"
        )


def _options(function: Callable[..., Any]) -> Callable[..., Any]:
    options = (*_of_catalogs(), *_of_serving(), *_of_callers(), *_of_process())
    return with_options(function, options)


@click.command(
    NAME,
    cls=GoCommand,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@_options
def command(**given: Any) -> Settings:
    """Serves the packages of all catalogs as PackageManifests."""
    namespace = given["system_namespace"] or own_namespace(DEFAULT_NAMESPACE)
    host = given["bind_address"]
    return Settings(
        kubeconfig=given["kubeconfig"],
        authentication=given["authentication"],
        authorization=given["authorization"],
        system_namespace=namespace,
        global_namespace=given["global_namespace"] or namespace,
        sync_seconds=given["interval"],
        address=("" if host in ("::", "0.0.0.0") else host, given["secure_port"]),  # noqa: S104
        certificate=_certificate(given),
        tls_profile=_profile(given["tls_min_version"], given["tls_cipher_suites"]),
        front_proxy=_front_proxy(given),
        client_authorities=_read(given["client_ca_file"], "--client-ca-file"),
        remember_seconds=given["authentication_token_webhook_cache_ttl"],
        allowed_seconds=given["authorization_webhook_cache_authorized_ttl"],
        denied_seconds=given["authorization_webhook_cache_unauthorized_ttl"],
        always_allowed=given["authorization_always_allow_paths"],
        health_address=given["health_address"],
        metrics_address=given["metrics_address"],
        log_level=logging.DEBUG if given["debug"] else given["log_level"],
        log_format=given["log_format"],
    )


def _certificate(given: Mapping[str, Any]) -> CertificateFiles | OwnCertificate:
    certificate, key = given["tls_cert_file"], given["tls_private_key_file"]
    if (certificate is None) != (key is None):
        raise click.UsageError("--tls-cert-file and --tls-private-key-file go together")
    if certificate is not None and key is not None:
        return CertificateFiles(certificate, key)
    return OwnCertificate(
        secret=given["serving_secret"],
        service=given["service_name"],
        api_service=given["api_service"],
        folder=given["cert_dir"],
        lifetime=timedelta(seconds=given["certificate_lifetime"]),
        settle=timedelta(seconds=given["certificate_settle"]),
    )


def _profile(version: str, ciphers: str) -> TlsProfile:
    try:
        return custom_profile(GO_VERSIONS[version], ciphers, "")
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _front_proxy(given: Mapping[str, Any]) -> FrontProxy | None:
    authorities = _read(given["requestheader_client_ca_file"], "--requestheader-client-ca-file")
    if authorities is None:
        return None
    return FrontProxy(
        authorities=authorities,
        names=frozenset(given["requestheader_allowed_names"]),
        user_headers=given["requestheader_username_headers"],
        uid_headers=given["requestheader_uid_headers"],
        group_headers=given["requestheader_group_headers"],
        extra_prefixes=given["requestheader_extra_headers_prefix"],
    )


def _read(file: Path | None, flag: str) -> str | None:
    if file is None:
        return None
    try:
        return file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"cannot read {flag} {file}: {error}") from error
