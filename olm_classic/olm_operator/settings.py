"""Flags, read here only. Upstream's flags have upstream's meaning."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import click

from olm_classic.names import DEFAULT_NAMESPACE
from olm_runtime.cli.values import parse_duration
from olm_runtime.daemon.settings import (
    ControllerSettings,
    controller_options,
    read_options,
)
from olm_runtime.images.limits import BUNDLE_LIMITS
from olm_runtime.settings import daemon, read_settings

LEASE = "olm-operator.operators.coreos.com"
LIFETIME, SETTLE = timedelta(days=730), timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(ControllerSettings):
    """How olm-operator runs.

    watched_namespaces    to bring ClusterServiceVersions and OperatorGroups forward in, and to copy
                          to; empty for all
    protected_namespaces  that have copies even where copies are disabled
    status_name           of the ClusterOperator to report to; empty for none
    package_server_name   of that of package-server; empty for none
    certificate_lifetime  of certificates of API services and webhooks
    certificate_settle    how long callers know a new CA before it is served with
    """

    watched_namespaces: frozenset[str]
    protected_namespaces: frozenset[str]
    status_name: str
    package_server_name: str
    certificate_lifetime: timedelta
    certificate_settle: timedelta


def parse_settings(arguments: Sequence[str] | None = None) -> Settings:
    """Settings from a command line; exits with a message and code 2 when it is wrong."""
    settings: Settings = read_settings(command, arguments)
    return settings


def _parse_timedelta(text: str) -> timedelta:
    return timedelta(seconds=parse_duration(text))


def _names(_: click.Context, __: click.Parameter, text: str) -> frozenset[str]:
    return frozenset(filter(None, map(str.strip, text.split(","))))


@daemon("olm-operator", gates={}, namespace=DEFAULT_NAMESPACE, namespace_flag="--namespace")
@controller_options(interval="5m")
@click.option(
    "--watchedNamespaces",
    "watched_namespaces",
    default="",
    callback=_names,
    metavar="NAMESPACES",
    help="Namespaces, by commas, to bring operators to run in; all without it.",
)
@click.option(
    "--protectedCopiedCSVNamespaces",
    "protected_namespaces",
    default="",
    callback=_names,
    metavar="NAMESPACES",
    help="Namespaces, by commas, that have copies of ClusterServiceVersions even where copies "
    "are disabled.",
)
@click.option(
    "--writeStatusName",
    "status_name",
    default="",
    metavar="NAME",
    help="ClusterOperator to report to, on OpenShift.",
)
@click.option(
    "--writePackageServerStatusName",
    "package_server_name",
    default="",
    metavar="NAME",
    help="ClusterOperator to report to about package-server, on OpenShift.",
)
@click.option(
    "--serving-cert-lifetime",
    "certificate_lifetime",
    type=_parse_timedelta,
    default=f"{LIFETIME // timedelta(hours=1)}h",
    show_default=True,
    metavar="DURATION",
    help="How long certificates of operators' API services and webhooks last.",
)
@click.option(
    "--serving-cert-settle",
    "certificate_settle",
    type=_parse_timedelta,
    default=f"{SETTLE // timedelta(minutes=1)}m",
    show_default=True,
    metavar="DURATION",
    help="How long callers know a new CA before it is served with.",
)
def command(**given: Any) -> Settings:
    """Brings ClusterServiceVersions of OLM Classic to run in the namespaces of OperatorGroups."""
    return Settings(limits=BUNDLE_LIMITS, **read_options(given))  # it pulls nothing
