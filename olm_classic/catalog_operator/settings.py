"""Flags and environment, read here only. Upstream's flags have upstream's meaning."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import click

from olm_classic.catalog_sources.pods import Images, PodSettings
from olm_classic.dialect import Dialect
from olm_classic.names import DEFAULT_NAMESPACE
from olm_runtime.cli.limit_flags import limit_options
from olm_runtime.cli.values import parse_duration, parse_secret
from olm_runtime.daemon.settings import (
    ControllerSettings,
    controller_options,
    read_options,
)
from olm_runtime.images.limits import BUNDLE_LIMITS
from olm_runtime.settings import daemon, optional_path, read_settings

LEASE = "catalog-operator.operators.coreos.com"
GLOBAL_NAMESPACE_VARIABLE = "GLOBAL_CATALOG_NAMESPACE"
DEFAULT_WORKLOAD_USER = 1001
POD_FLAGS = ("configmap_server", "opm_image", "util_image", "workload_user")
LOOPBACK, MAX_PORT = "127.0.0.1", 65535
UPSTREAM_REGISTRY = "quay.io/operator-framework"


class BundleUnpack(StrEnum):
    """What pulls the images of bundles."""

    PROCESS = "process"
    JOB = "job"


class CatalogServing(StrEnum):
    """What serves the catalogs of image sources."""

    PODS = "pods"
    SHARED = "shared"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(ControllerSettings):
    """How catalog-operator runs. Durations are in seconds.

    global_namespace            whose catalogs are for all namespaces
    cache_path                  of catalogs and bundles
    bundle_unpack_seconds       until an unpacking is given up; 0 for never
    bundle_unpack               what pulls bundles
    install_plan_retry_seconds  while an install plan that fails is tried again
    catalog_address             of this host, for clients of the catalogs that it serves
    catalog_ports               that it serves them at
    catalogd_ca_secret          with the CAs of a catalogd whose content is taken
    pods                        what runs in those that we make
    status_name                 of the ClusterOperator to report to; empty for none
    default_catalogs            folder of the default CatalogSources
    """

    global_namespace: str
    cache_path: Path
    bundle_unpack_seconds: float
    bundle_unpack: BundleUnpack
    install_plan_retry_seconds: float
    catalog_serving: CatalogServing
    catalog_address: str
    catalog_ports: range
    catalogd_ca_secret: tuple[str, str] | None
    dialect: Dialect
    pods: PodSettings
    status_name: str
    default_catalogs: Path | None


def parse_settings(arguments: Sequence[str] | None = None) -> Settings:
    """Settings from a command line; exits with a message and code 2 when it is wrong."""
    settings: Settings = read_settings(command, arguments)
    return settings


@daemon("catalog-operator", gates={}, namespace=DEFAULT_NAMESPACE, namespace_flag="--namespace")
@controller_options(interval="15m")
@click.option(
    "--cache-path",
    type=click.Path(path_type=Path),
    default="/var/cache/catalog-operator",
    show_default=True,
    metavar="FOLDER",
    help="Folder for catalogs and bundles.",
)
@click.option(
    "--catalog-serving",
    type=click.Choice([each.value for each in CatalogServing]),
    default=CatalogServing.PODS.value,
    show_default=True,
    callback=lambda _, __, text: CatalogServing(text),
    help="Serve catalogs of images by a pod each, or all of them by this program.",
)
@click.option(
    "--catalog-serving-address",
    "catalog_address",
    default=lambda: os.environ.get("POD_IP") or LOOPBACK,
    callback=lambda _, __, text: _ip_address(text),
    metavar="IP",
    help="Address that Services of shared catalogs lead to; a loopback for none."
    f"  [default: $POD_IP, else {LOOPBACK}]",
)
@click.option(
    "--catalog-serving-ports",
    "catalog_ports",
    default="51000-51499",
    show_default=True,
    callback=lambda _, __, text: _ports(text),
    metavar="FIRST-LAST",
    help="Ports that shared catalogs are served at, one each.",
)
@click.option(
    "--catalogd-ca-secret",
    default="",
    callback=lambda _, __, text: parse_secret(text, "catalogd-ca-secret"),
    metavar="NAMESPACE/NAME",
    help="Take content of shared catalogs from the catalogd of OLM v1 where it serves it;"
    " ca.crt of this Secret has its CAs.",
)
@click.option(
    "--bundle-unpack-timeout",
    "bundle_unpack_seconds",
    type=parse_duration,
    default="10m",
    show_default=True,
    metavar="DURATION",
    help="Until the unpacking of a bundle is given up; 0 for never.",
)
@click.option(
    "--bundle-unpack",
    type=click.Choice([each.value for each in BundleUnpack]),
    default=BundleUnpack.PROCESS.value,
    show_default=True,
    callback=lambda _, __, text: BundleUnpack(text),
    help="Pull bundles by this program, or by a Job for each.",
)
@click.option(
    "--install-plan-retry-timeout",
    "install_plan_retry_seconds",
    type=parse_duration,
    default="1m",
    show_default=True,
    metavar="DURATION",
    help="How long an install plan that fails is tried again.",
)
@click.option(
    "--resolution-dialect",
    "dialect",
    type=click.Choice([each.value for each in Dialect]),
    default=Dialect.DOCUMENTS.value,
    show_default=True,
    callback=lambda _, __, text: Dialect(text),
    help="Whose rules count where OpenShift's documents and upstream differ.",
)
@click.option(
    "--default-catalogs",
    type=optional_path,
    metavar="FOLDER",
    help="Manifests of the CatalogSources that OperatorHub disables and enables.",
)
@click.option(
    "--configmapServerImage",
    "configmap_server",
    default=f"{UPSTREAM_REGISTRY}/configmap-operator-registry:latest",
    show_default=True,
    metavar="IMAGE",
    help="Image that serves the catalogs of ConfigMaps.",
)
@click.option(
    "--opmImage",
    "opm_image",
    default=f"{UPSTREAM_REGISTRY}/opm:latest",
    show_default=True,
    metavar="IMAGE",
    help="Image with opm, which extracts bundles.",
)
@click.option(
    "--util-image",
    default=f"{UPSTREAM_REGISTRY}/olm:latest",
    show_default=True,
    metavar="IMAGE",
    help="Image with the programs that are copied into pods of catalogs and bundles.",
)
@click.option(
    "--set-workload-user-id",
    "workload_user",
    type=click.IntRange(min=0),
    default=DEFAULT_WORKLOAD_USER,
    show_default=True,
    metavar="UID",
    help="User that restricted pods run as.",
)
@click.option(
    "--writeStatusName",
    "status_name",
    default="",
    metavar="NAME",
    help="ClusterOperator to report to, on OpenShift.",
)
@limit_options(BUNDLE_LIMITS)
def command(**given: Any) -> Settings:
    """Serves the catalogs of OLM Classic, resolves Subscriptions and carries out InstallPlans."""
    pods = _pods(*(given.pop(flag) for flag in POD_FLAGS))
    return Settings(
        global_namespace=os.environ.get(GLOBAL_NAMESPACE_VARIABLE) or given["system_namespace"],
        pods=pods,
        **read_options(given),
    )


def _pods(config_map: str, opm: str, util: str, user: int) -> PodSettings:
    return PodSettings(images=Images(config_map=config_map, opm=opm, util=util), workload_user=user)


def _ip_address(text: str) -> str:
    try:
        return str(ip_address(text))
    except ValueError as error:
        raise click.BadParameter(f"{text} is no IP address") from error


def _ports(text: str) -> range:
    first, dash, last = text.partition("-")
    try:
        found = range(int(first), int(last if dash else first) + 1)
    except ValueError as error:
        raise click.BadParameter(f"{text} is no range of ports") from error
    if not found or not 0 < found[0] <= found[-1] <= MAX_PORT:
        raise click.BadParameter(f"ports are from 1 to {MAX_PORT}")
    return found
