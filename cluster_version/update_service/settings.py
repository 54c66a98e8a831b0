"""Flags, read here only."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from olm_runtime.cli.go_command import GoCommand
from olm_runtime.cli.values import Address, parse_address, parse_interval, parse_served_address
from olm_runtime.errors import TerminalError
from olm_runtime.http.tls import TlsProfile
from olm_runtime.images.reference import ImageRef, parse_ref, parse_repository
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

NAME = "update-service"
DEFAULT_PREFIX = "/api/upgrades_info"
DEFAULT_CACHE = "/var/cache/update-service"

T = TypeVar("T")
Option = Callable[[Any], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How the update service runs. Durations are in seconds; None as an address: not served.

    graph_data      a folder or an image
    releases        repositories of release images
    plain_http      registries that are spoken to without TLS
    reload_seconds  the folder is looked at this often
    poll_seconds    registries are
    prefix          of paths, without a slash at its end
    """

    graph_data: Path | ImageRef
    releases: tuple[ImageRef, ...]
    reload_seconds: float
    poll_seconds: float
    cache_dir: Path
    auth_file: Path | None
    cas_dir: Path | None
    plain_http: frozenset[str]
    address: Address
    prefix: str
    tls_cert: Path | None
    tls_key: Path | None
    tls_profile: TlsProfile
    metrics_address: Address | None
    health_address: Address | None
    log_level: int
    log_format: LogFormat
    tracing: bool


def parse_settings(arguments: Sequence[str] | None = None) -> Settings:
    """Settings from a command line; exits with a message and code 2 when it is wrong."""
    settings: Settings = read_settings(command, arguments)
    return settings


def _read_by(read: Callable[[str], T]) -> Callable[[str], T]:
    """Has click show what is wrong with a reference."""

    def parse(text: str) -> T:
        try:
            return read(text)
        except TerminalError as error:
            raise click.BadParameter(error.describe()) from error

    return parse


def _of_data() -> tuple[Option, ...]:
    option = click.option
    return (
        option("--graph-data", type=optional_path, metavar="FOLDER",
               help="Folder of graph data; read again when it changes."),
        option("--graph-data-image", type=_read_by(parse_ref), metavar="IMAGE",
               help="Image of graph data, in place of a folder."),
        option("--releases", type=_read_by(parse_repository), multiple=True, metavar="REPOSITORY",
               help="Repository of release images; may be given again."),
        option("--reload-interval", "reload_seconds", type=parse_interval, default="5s",
               show_default=True, metavar="DURATION", help="How often the folder is looked at."),
        option("--poll-interval", "poll_seconds", type=parse_interval, default="5m",
               show_default=True, metavar="DURATION", help="How often registries are asked."),
    )  # fmt: skip


def _of_registries() -> tuple[Option, ...]:
    option = click.option
    return (
        option("--cache-dir", type=click.Path(path_type=Path), default=DEFAULT_CACHE,
               show_default=True, metavar="FOLDER",
               help="Folder for what images say; it stays over restarts."),
        option("--auth-file", type=optional_path, metavar="FILE",
               help="Credentials of registries, as `docker login` writes them."),
        option("--pull-cas-dir", "cas_dir", type=optional_path, metavar="FOLDER",
               help="Folder of CA files for registries."),
        option("--plain-http", multiple=True, metavar="HOST[:PORT]",
               help="Registry that is spoken to without TLS; may be given again."),
    )  # fmt: skip


def _of_serving() -> tuple[Option, ...]:
    option = click.option
    return (
        option("--bind-address", "address", type=parse_served_address, default=":8080",
               show_default=True, metavar="ADDRESS",
               help="Address of /graph, over TLS with --tls-cert."),
        option("--path-prefix", "prefix", default=DEFAULT_PREFIX, show_default=True,
               metavar="PATH", help="Prefix with which paths are there, too."),
        option("--metrics-bind-address", "metrics_address", type=parse_address, default=":8082",
               show_default=True, metavar="ADDRESS", help="Address of /metrics; 0 for none."),
        option("--kubeconfig", expose_value=False, metavar="FILE",
               help="Accepted, without effect: no cluster is asked."),
        *tls_options(),
        *process_options(),
        click.version_option(package_name=DISTRIBUTION, prog_name=NAME),
        *klog_options(),
    )  # fmt: skip


def _options(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed((*_of_data(), *_of_registries(), *_of_serving())):
        function = option(function)
    return function


@click.command(
    NAME,
    cls=GoCommand,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@_options
def command(**given: Any) -> Settings:
    """Serves the graphs of updates that clusters follow.

    \b
    A folder of channels, blocked edges and releases:
      update-service --graph-data ./graph-data
    Channels and blocked edges of an image, releases of a registry:
      update-service --graph-data-image registry.example.com/graph-data:latest \\
        --releases registry.example.com/openshift/release-images
    """
    folder, image = given["graph_data"], given.pop("graph_data_image")
    if (folder is None) == (image is None):
        raise click.UsageError("give one of --graph-data and --graph-data-image")
    given["graph_data"] = folder or image
    if (given["tls_cert"] is None) != (given["tls_key"] is None):
        raise click.UsageError("--tls-cert and --tls-key go together")
    given["tls_profile"] = take_tls_profile(given)
    given["plain_http"] = frozenset(given["plain_http"])
    given["prefix"] = f"/{given['prefix'].strip('/')}".rstrip("/")
    return Settings(**given)
