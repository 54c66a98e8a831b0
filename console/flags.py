"""Flags of the console in a cluster, read here only."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from olm_runtime.cli.go_command import GoCommand
from olm_runtime.cli.values import Address, parse_address, parse_served_address
from olm_runtime.http.tls import TlsProfile
from olm_runtime.logs import LogFormat
from olm_runtime.settings import (
    DISTRIBUTION,
    klog_options,
    optional_path,
    process_options,
    read_settings,
    take_tls_profile,
    tls_options,
)

NAME = "console"
HTTPS_PORT = ":443"

Option = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class OidcSettings:
    """An OpenID provider, and the console as its client; a secret is not needed with PKCE."""

    issuer: str
    client: str
    secret_file: Path | None
    ca_file: Path | None
    scopes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How the console runs. None as an address: not served.

    hosts      what browsers call it; without a port for that of HTTPS
    server     address of the API server, without a slash at its end
    authority  file of its CAs; None: those of the system
    cas_dir    CAs of catalogd, where it is not asked through the API server
    oidc       the OpenID provider where people may sign in
    proxies    addresses and networks of those whose X-Forwarded-For counts
    """

    hosts: frozenset[str]
    server: str
    authority: Path | None
    cas_dir: Path | None
    oidc: OidcSettings | None
    proxies: tuple[str, ...]
    address: Address
    tls_cert: Path
    tls_key: Path
    tls_profile: TlsProfile
    health_address: Address | None
    log_level: int
    log_format: LogFormat
    tracing: bool


def parse_settings(arguments: Sequence[str] | None = None) -> Settings:
    """Settings from a command line; exits with a message and code 2 when it is wrong."""
    settings: Settings = read_settings(command, arguments)
    return settings


def _host(text: str) -> str:
    """As browsers send it: in lower case, without the port of HTTPS."""
    parts = urlsplit(f"//{text}")
    if not parts.hostname or parts.netloc != text or "@" in text:
        raise click.BadParameter(f"{text!r} is no host; say NAME or NAME:PORT")
    return text.lower().removesuffix(HTTPS_PORT)


def _server(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme != "https" or not parts.hostname:
        raise click.BadParameter(f"{text!r} is no address of an API server; say https://HOST:PORT")
    return text.rstrip("/")


def _issuer(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme != "https" or not parts.hostname or parts.query or parts.fragment:
        raise click.BadParameter(f"{text!r} is no issuer; say https://HOST[:PORT][/PATH]")
    return text


def _network(text: str) -> str:
    try:
        return str(ip_network(text))
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is no address and no network: {error}") from error


def _of_pod() -> str | None:
    """The API server as a pod finds it. Its credentials are not looked at."""
    variables = ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT")
    host, port = (os.environ.get(name, "") for name in variables)
    if not host or not port:
        return None
    return f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"


def _of_console() -> tuple[Option, ...]:
    option = click.option
    return (
        option("--host", "hosts", type=_host, multiple=True, required=True, metavar="HOST[:PORT]",
               help="What browsers call it, and no other name is answered; may be given again."),
        option("--server", type=_server, default=_of_pod, required=True, metavar="URL",
               help="Address of the API server; default: that of the pod's cluster."),
        option("--certificate-authority", "authority", type=optional_path, metavar="FILE",
               help="CAs to check the API server with; default: those of the system."),
        option("--catalogd-cas-dir", "cas_dir", type=optional_path, metavar="FOLDER",
               help="CAs of catalogd, where it is not asked through the API server."),
        option("--oidc-issuer-url", "issuer", type=_issuer, metavar="URL",
               help="OpenID provider where people may sign in, as the API server is given it."),
        option("--oidc-client-id", "client", metavar="ID",
               help="What the console is called there, which the API server is given, too."),
        option("--oidc-client-secret-file", "secret_file", type=optional_path, metavar="FILE",
               help="Secret of that client, if it has one; read anew each time."),
        option("--oidc-ca-file", "ca_file", type=optional_path, metavar="FILE",
               help="CAs to check the provider with; default: those of the system."),
        option("--oidc-scope", "scopes", multiple=True, metavar="SCOPE",
               default=("openid", "profile", "email"), show_default=True,
               help="What it is asked for, and may be given again."),
        option("--trusted-proxy", "proxies", type=_network, multiple=True, metavar="ADDRESS|CIDR",
               help="Proxy whose X-Forwarded-For says from where people come; may be given again."),
        option("--bind-address", "address", type=parse_served_address, default=":8443",
               show_default=True, metavar="ADDRESS", help="Address of the pages, over TLS."),
        option("--metrics-bind-address", expose_value=False, type=parse_address, metavar="ADDRESS",
               help="Accepted, without effect."),
        *tls_options(),
        *process_options(),
        click.version_option(package_name=DISTRIBUTION, prog_name=NAME),
        *klog_options(),
    )  # fmt: skip


def _options(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_of_console()):
        function = option(function)
    return function


@click.command(
    NAME,
    cls=GoCommand,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@_options
def command(**given: Any) -> Settings:
    """Serves the web console to all who can sign in to the cluster.

    It has no rights of its own: each request to the API server has the token of who is signed in.

    \b
    In a pod:
      console --host console.example.com --tls-cert tls.crt --tls-key tls.key \\
        --certificate-authority /etc/cluster/ca.crt
    """
    if given["tls_cert"] is None or given["tls_key"] is None:
        raise click.UsageError("give --tls-cert and --tls-key: tokens are not sent without TLS")
    given["tls_profile"] = take_tls_profile(given)
    given["oidc"] = _oidc(given)
    given["hosts"] = frozenset(given["hosts"])
    return Settings(**given)


def _oidc(given: dict[str, Any]) -> OidcSettings | None:
    names = ("issuer", "client", "secret_file", "ca_file", "scopes")
    issuer, client, secret_file, ca_file, scopes = (given.pop(name) for name in names)
    if bool(issuer) != bool(client):
        raise click.UsageError("give both --oidc-issuer-url and --oidc-client-id, or neither")
    if not issuer:
        return None
    if "openid" not in scopes:
        scopes = ("openid", *scopes)  # without it there is no ID token
    return OidcSettings(issuer, client, secret_file, ca_file, scopes)
