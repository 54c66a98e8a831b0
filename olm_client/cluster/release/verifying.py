"""Verifies release images: as a cluster does, as a release says, or by keys."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx

from api.objects import KubeObject
from api.openshift.config.v1.kinds import CLUSTER_VERSION
from cluster_version.io.signatures import Verifier, cluster_verifier, own_stores_of
from cluster_version.payload.manifests import ManifestError, parse_manifests
from cluster_version.payload.release_folders import RELEASE_FOLDER
from cluster_version.signatures.configuration import (
    CONFIG_MAP,
    Configuration,
    find_configuration,
)
from cluster_version.signatures.errors import SignatureError
from cluster_version.signatures.key_rings import read_key_ring
from cluster_version.signatures.stores import NAMESPACE
from olm_client.cluster.reading import NAME
from olm_runtime.clocks import utc_now
from olm_runtime.errors import TerminalError
from olm_runtime.http.proxied import http_client
from olm_runtime.http.trust import registry_trust
from olm_runtime.kube.client import KubeClient

_TIMEOUT = httpx.Timeout(30.0)


async def by_cluster(client: KubeClient, digest: str) -> Sequence[str]:
    """As the Cluster Version Operator of a cluster does; the rings. Raises OLMError."""
    version = await client.find(CLUSTER_VERSION, NAME) or {}
    config_maps, _ = await client.list_all(CONFIG_MAP, NAMESPACE)
    configuration = find_configuration(config_maps)
    verifier = cluster_verifier(client, configuration, lambda: own_stores_of(version))
    await verifier.verify(digest)
    return tuple(configuration.rings if configuration else ())


async def by_release(
    files: Mapping[str, bytes], digest: str, cas_dir: Path | None
) -> Sequence[str]:
    """As a release says, by the files of its image; the rings. Raises OLMError."""
    configuration = find_configuration(_manifests(files))
    if configuration is None:
        raise TerminalError("the release does not say which keys sign")
    return await _verify(configuration, digest, cas_dir)


async def by_keys(
    keys: Mapping[str, bytes], stores: Sequence[str], digest: str, cas_dir: Path | None
) -> Sequence[str]:
    """By keys, each of which has to have signed; their names. Raises OLMError."""
    rings = {}
    for name, key in keys.items():
        try:
            rings[name] = read_key_ring(key)
        except SignatureError as error:
            raise TerminalError(f"{name} is no public key: {error.message}") from error
    return await _verify(Configuration(rings, tuple(stores)), digest, cas_dir)


async def _verify(configuration: Configuration, digest: str, cas_dir: Path | None) -> Sequence[str]:
    async def none() -> Sequence[KubeObject]:
        return ()

    async def connect(_: str) -> httpx.AsyncClient:
        return http_client(_TIMEOUT, origin=registry_trust(cas_dir))

    verifier = Verifier(configuration, none, lambda: None, connect, utc_now)
    await verifier.verify(digest)
    return tuple(configuration.rings)


def _manifests(files: Mapping[str, bytes]) -> list[KubeObject]:
    """The manifests of a release in their order, without files that have none."""
    found: list[KubeObject] = []
    for path in sorted(files):
        folder, _, name = path.rpartition("/")
        if folder == RELEASE_FOLDER and b"verification-config-map" in files[path]:
            try:
                found += (each.object for each in parse_manifests(name, files[path]))
            except ManifestError as error:
                raise TerminalError(f"{path}: {error.message}") from error
    return found
