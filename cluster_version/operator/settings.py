"""Flags, read here only. Upstream's flags have upstream's meaning."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import click

from cluster_version.names import DEFAULT_NAMESPACE, DEFAULT_PROFILE
from olm_runtime.cli.values import parse_duration, parse_interval
from olm_runtime.controller.leader import LeaseTimes
from olm_runtime.daemon.settings import (
    ControllerSettings,
    controller_options,
    lease_options,
    read_lease_times,
    read_options,
)
from olm_runtime.images.limits import RELEASE_LIMITS
from olm_runtime.kube.access import SERVICE_ACCOUNT_FOLDER
from olm_runtime.settings import daemon, optional_path, read_settings

INTERVAL = "3m30s"
LEASE_TIMES = LeaseTimes(duration=137.0, renew_deadline=107.0, retry=26.0)
"""Upstream's: an update that restarts the only API server of a cluster takes no lead."""


class Retrieval(StrEnum):
    """What fetches release images."""

    JOB = "job"
    REGISTRY = "registry"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(ControllerSettings):
    """How cluster-version-operator runs.

    release_image         the image that this program is from
    payload               the folder with the manifests of that image
    payloads              the folder in which other releases are stored
    retrieval             what fetches them
    node                  the node that this program is on, if any
    profile               the cluster profile
    exclude               the identifier under which manifests exclude themselves
    update_service        asked in place of what the ClusterVersion names; empty for that
    always_enabled        capabilities that the cluster has in any case
    round_seconds         between rounds over a release
    check_seconds         between questions to the update service, at least
    metrics_url           of the metrics store that risks are looked for in; empty for the Service
                          of the cluster's monitoring
    metrics_ca            the CAs of its certificate
    metrics_token         what proves to it who asks
    is_hosted             whether the metrics store has several clusters
    risk_seconds          how long what the metrics store said of a risk is not asked anew
    """

    release_image: str
    payload: Path
    payloads: Path
    retrieval: Retrieval
    node: str
    profile: str
    exclude: str
    update_service: str
    always_enabled: tuple[str, ...]
    round_seconds: float
    check_seconds: float
    metrics_url: str
    metrics_ca: Path
    metrics_token: Path
    is_hosted: bool
    risk_seconds: float


def parse_settings(arguments: Sequence[str] | None = None) -> Settings:
    """Settings from a command line; exits with a message and code 2 when it is wrong."""
    settings: Settings = read_settings(command, arguments)
    return settings


@daemon("cluster-version-operator", gates={}, namespace=DEFAULT_NAMESPACE, elects=True)
@controller_options(interval="10m")
@lease_options(LEASE_TIMES)
@click.option(
    "--release-image",
    envvar="RELEASE_IMAGE",
    required=True,
    metavar="IMAGE",
    help="Release image that this program is from.  [env: RELEASE_IMAGE]",
)
@click.option(
    "--payload-override",
    "payload",
    type=optional_path,
    default="/",
    show_default=True,
    metavar="FOLDER",
    help="Folder with the manifests of the release image.",
)
@click.option(
    "--payloads",
    type=Path,
    default="/etc/cvo/updatepayloads",
    show_default=True,
    metavar="FOLDER",
    help="Folder in which the manifests of other releases are kept.",
)
@click.option(
    "--retrieve-by",
    "retrieval",
    type=click.Choice([each.value for each in Retrieval]),
    default=Retrieval.JOB.value,
    show_default=True,
    callback=lambda _, __, text: Retrieval(text),
    help="What fetches other releases: a Job into the folder of --payloads on the node of this "
    "program, or this program itself, which needs no node.",
)
@click.option(
    "--node-name",
    "node",
    envvar="NODE_NAME",
    default="",
    metavar="NAME",
    help="Node that this program is on.  [env: NODE_NAME]",
)
@click.option(
    "--cluster-profile",
    "profile",
    envvar="CLUSTER_PROFILE",
    default=DEFAULT_PROFILE,
    show_default=True,
    metavar="NAME",
    help="Profile whose manifests are applied.  [env: CLUSTER_PROFILE]",
)
@click.option(
    "--exclude",
    envvar="EXCLUDE_MANIFESTS",
    default="",
    metavar="NAME",
    help="Identifier under which manifests exclude themselves.  [env: EXCLUDE_MANIFESTS]",
)
@click.option(
    "--update-service",
    default="",
    metavar="URL",
    help="Update service to ask in place of that of the ClusterVersion.",
)
@click.option(
    "--always-enable-capabilities",
    "always_enabled",
    default="",
    callback=lambda _, __, text: tuple(filter(None, text.split(","))),
    metavar="NAMES",
    help="Capabilities, by commas, that the cluster has in any case.",
)
@click.option(
    "--round-interval",
    "round_seconds",
    type=parse_interval,
    default=INTERVAL,
    show_default=True,
    metavar="DURATION",
    help="Time between rounds over the manifests of a release.",
)
@click.option(
    "--update-check-interval",
    "check_seconds",
    type=parse_interval,
    default="2m",
    show_default=True,
    metavar="DURATION",
    help="Least time between questions to the update service. The time is up to twice as long, "
    "drawn at the start.",
)
@click.option(
    "--metrics-url",
    default="",
    metavar="URL",
    help="Metrics store that is asked which risks of updates apply.  "
    "[default: Service thanos-querier in openshift-monitoring]",
)
@click.option(
    "--metrics-ca-bundle-file",
    "metrics_ca",
    type=Path,
    default="/etc/tls/service-ca/service-ca.crt",
    show_default=True,
    metavar="FILE",
    help="CAs of the metrics store; those of the system if there is no such file.",
)
@click.option(
    "--metrics-token-file",
    "metrics_token",
    type=Path,
    default=SERVICE_ACCOUNT_FOLDER / "token",
    show_default=True,
    metavar="FILE",
    help="Bearer token for the metrics store; none if there is no such file.",
)
@click.option(
    "--hypershift",
    "is_hosted",
    is_flag=True,
    help='The metrics store has several clusters: _id="" in queries becomes the ID of this one.',
)
@click.option(
    "--risk-check-interval",
    "risk_seconds",
    type=parse_duration,
    default="1h",
    show_default=True,
    metavar="DURATION",
    help="How long the answer of the metrics store to a query is not looked for anew.",
)
def command(**given: Any) -> Settings:
    """Brings a cluster to the release that its ClusterVersion asks for, and keeps it there."""
    times = read_lease_times(given)
    return Settings(limits=RELEASE_LIMITS, lease_times=times, **read_options(given))
