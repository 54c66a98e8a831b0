"""Flags of programs with controllers, in addition to those of all daemons."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import click

from olm_runtime.cli.option_lists import with_options
from olm_runtime.cli.values import Address, parse_address, parse_interval
from olm_runtime.controller.leader import LeaseTimes
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
    lease_times     how long the lease holds, and how it is renewed
    """

    metrics: Metrics | None
    resync_seconds: float
    lease_times: LeaseTimes = field(default_factory=LeaseTimes)


def controller_options(*, interval: str) -> Option:
    """Adds the flags to a command; `interval` is the default of --interval."""
    return partial(with_options, options=_options(interval))


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


def lease_options(times: LeaseTimes) -> Option:
    """Adds flags for `lease_times` to a command, by the names that Kubernetes' components have."""
    return partial(with_options, options=_lease_options(times))


def _lease_options(times: LeaseTimes) -> tuple[Option, ...]:
    flags = (
        ("lease-duration", times.duration, "How long the lease of a leader that was killed holds."),
        ("renew-deadline", times.renew_deadline, "A leader that cannot renew it this long ends."),
        ("retry-period", times.retry, "How often a leader renews it."),
    )
    return tuple(
        click.option(
            f"--leader-elect-{name}",
            type=parse_interval,
            default=f"{seconds:g}s",
            show_default=True,
            metavar="DURATION",
            help=text,
        )
        for name, seconds, text in flags
    )


def read_lease_times(given: dict[str, Any]) -> LeaseTimes:
    """What the flags of `lease_options` say; they are taken out. Raises click.UsageError."""
    parts = ("lease_duration", "renew_deadline", "retry_period")
    times = LeaseTimes(*(given.pop(f"leader_elect_{part}") for part in parts))
    if not times.duration > times.renew_deadline > times.retry:
        raise click.UsageError(
            "leader-elect-lease-duration has to be longer than leader-elect-renew-deadline, "
            "and that longer than leader-elect-retry-period"
        )
    return times


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
