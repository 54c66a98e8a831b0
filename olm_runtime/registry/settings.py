"""How to reach registries: trust, logins, mirrors, limits."""

import os
import platform as machine
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from olm_runtime.images.cluster_settings import ClusterSettings
from olm_runtime.images.limits import Limits
from olm_runtime.images.oci import Platform
from olm_runtime.registry.http import RegistryHttp
from olm_runtime.registry.login_files import LoginFiles
from olm_runtime.registry.tokens import PULL

OnBytes = Callable[[str, int, int], None]
"""Told of an image's reference, the bytes of it that came, and how many there are."""

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm"}


def this_platform() -> Platform:
    """Linux on this machine's processor: what a cluster's images are made for."""
    return Platform("linux", ARCHITECTURES.get(machine.machine(), machine.machine()))


@dataclass(frozen=True, slots=True)
class PullSettings:
    """How to reach registries.

    `plain_http` holds the registries, as they stand in references, that are spoken to without
    TLS; `insecure` those of which any certificate will do. `auth_file` is a docker configuration
    file, in place of all others; without it `login_files` are asked in their order, else the file
    of `docker login`. They may be absent. `run_helpers` says that the credential helpers that they
    name may be run.
    `registries_conf` is read in place of the system's. Proxies are those of the environment, else
    those of the `cluster`, whose mirrors and CAs are added to ours. `bulk` says that gigabytes will
    go, or that aiohttp is there in any case. `on_bytes` is notified of what comes of an image.
    """

    cas_dir: Path | None = None
    auth_file: Path | None = None
    login_files: tuple[Path, ...] = ()
    run_helpers: bool = False
    plain_http: frozenset[str] = frozenset()
    insecure: frozenset[str] = frozenset()
    platform: Platform = field(default_factory=this_platform)
    registries_conf: Path | None = None
    cluster: ClusterSettings = field(default_factory=ClusterSettings)
    limits: Limits = field(default_factory=Limits)
    bulk: bool = False
    on_bytes: OnBytes | None = None


def registry_http(settings: PullSettings, actions: str = PULL) -> RegistryHttp:
    """The connections that the settings describe. Raises as RegistryHttp."""
    return RegistryHttp(
        cas_dir=settings.cas_dir,
        logins=LoginFiles(credential_files(settings, os.environ), settings.run_helpers),
        plain_http=settings.plain_http,
        cluster=settings.cluster,
        actions=actions,
        bulk=settings.bulk,
    )


def credential_files(settings: PullSettings, environment: Mapping[str, str]) -> tuple[Path, ...]:
    """The files of credentials, the first that knows a registry counting."""
    if settings.auth_file is not None:
        return (settings.auth_file,)
    home = environment.get("HOME", "/")  # pods may run as users who have none
    docker = Path(environment.get("DOCKER_CONFIG") or Path(home, ".docker"), "config.json")
    return settings.login_files or (docker,)
