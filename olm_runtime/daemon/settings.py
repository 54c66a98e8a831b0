"""Flags of programs with controllers, beside those of all daemons."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from olm_runtime.cli.values import Address, parse_address, parse_interval
from olm_runtime.settings import DaemonSettings, optional_path

DEFAULT_METRICS_PORT, DEFAULT_METRICS_TLS_PORT = 8080, 8443

Option = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Metrics:
    """Where metrics are served, over TLS where there is a certificate.

    With `client_ca` a client certificate proves who asks, as a token does.
    """

    address: Address
    tls_cert: Path | None
    tls_key: Path | None
    client_ca: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerSettings(DaemonSettings):
    """How a program with controllers runs.

    metrics         None where they are not served
    resync_seconds  everything is looked at this often
    """

    metrics: Metrics | None
    resync_seconds: float


def controller_options(*, interval: str) -> Option:
    """Adds the flags to a command; `interval` is the default of --interval."""

    def decorate(command: Any) -> Any:
        for option in reversed(_options(interval)):
            command = option(command)
        return command

    return decorate


def _options(interval: str) -> tuple[Option, ...]:
    return (
        click.option(
            "--metrics-bind-address",
            default="",
            metavar="ADDRESS",
            help=f"Address of /metrics; 0 for none.  [default: :{DEFAULT_METRICS_PORT}, "
            f"with --tls-cert :{DEFAULT_METRICS_TLS_PORT}]",
        ),
        click.option(
            "--client-ca",
            type=optional_path,
            metavar="FILE",
            help="CA of client certificates that prove who reads the metrics.",
        ),
        click.option(
            "--interval",
            "resync_seconds",
            type=parse_interval,
            default=interval,
            show_default=True,
            metavar="DURATION",
            help="How often everything is looked at, whatever changed.",
        ),
        click.option("--debug", is_flag=True, help="Log reasons, too; as -v=4."),
        click.option(
            "--profiling", is_flag=True, expose_value=False, help="Accepted, without effect."
        ),
    )


def read_options(given: dict[str, Any]) -> dict[str, Any]:
    """Fields of ControllerSettings of what the flags say. Raises click.UsageError."""
    address, client_ca = given.pop("metrics_bind_address"), given.pop("client_ca")
    metrics = _metrics(address, given["tls_cert"], given["tls_key"], client_ca)
    level = logging.DEBUG if given.pop("debug") else given["log_level"]
    return {**given, "metrics": metrics, "log_level": level}


def _metrics(
    text: str, cert: Path | None, key: Path | None, client_ca: Path | None
) -> Metrics | None:
    if (cert is None) != (key is None):
        raise click.UsageError("tls-cert and tls-key flags must be used together")
    if client_ca is not None and cert is None:
        raise click.UsageError("client-ca requires tls-cert and tls-key flags to be set")
    port = DEFAULT_METRICS_PORT if cert is None else DEFAULT_METRICS_TLS_PORT
    address = parse_address(text or f":{port}")
    return address and Metrics(address, cert, key, client_ca)
