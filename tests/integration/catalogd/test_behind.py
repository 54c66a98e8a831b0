"""Two catalogds behind one address, one of which cannot fetch what is new: nobody gets old content
for new, and what anybody keeps is right once the other has caught up.
"""

import asyncio
import json
import secrets
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from api.objects import KubeObject
from api.olm.v1.kinds import CATALOG
from api.olm.v1.names import HEADER_RESOLVED_SOURCE
from e2e.harness.controlplane import ControlPlane
from e2e.harness.images import catalog_image
from e2e.harness.registry import Registry
from e2e.harness.round_robin import RoundRobin
from e2e.olm.api import Api, catalog_path
from e2e.olm.manifests import catalog as catalog_manifest
from e2e.olm.programs import SYSTEM_NAMESPACE, Olm
from olm_client.catalogs.cache import ContentCache
from olm_client.catalogs.cluster import Cluster, Served
from olm_client.reach import ClusterOptions, Reach
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from olm_runtime.watch.lister import listed
from operator_controller.io.catalog_cache import CatalogCache
from operator_controller.io.catalogd import Catalogd
from operator_controller.io.catalogs import CatalogClient
from tests.integration.catalogd.test_replicas import forget_leader

pytestmark = pytest.mark.integration

LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{SYSTEM_NAMESPACE}/leases/catalogd-operator-lock"
CONNECTIONS = 4
"""Two for each replica."""


def package(version: str) -> bytes:
    value = {"packageName": "p", "version": version}
    bundle = {"schema": "olm.bundle", "package": "p", "name": f"p.v{version}", "image": "r/p:v1"}
    bundle["properties"] = [{"type": "olm.package", "value": value}]  # type: ignore[assignment]
    channel = {"schema": "olm.channel", "package": "p", "name": "stable"}
    channel["entries"] = [{"name": f"p.v{version}"}]  # type: ignore[assignment]
    blobs = [{"schema": "olm.package", "name": "p"}, channel, bundle]
    return b"".join(json.dumps(blob).encode() + b"\n" for blob in blobs)


@dataclass
class Pair:
    """A leader and a follower behind a front, and one catalog."""

    leader: Olm
    follower: Olm
    registry: Registry
    api: Api
    cas: Path
    name: str = field(default_factory=lambda: f"catalog-{secrets.token_hex(4)}")

    @property
    def path(self) -> str:
        return catalog_path(self.name)

    def push(self, version: str) -> str:
        image = catalog_image({"p.json": package(version)})
        return self.registry.push(image, self.name, tag="latest").digest

    def hold(self) -> None:
        """The follower trusts the registry no more, so it cannot fetch."""
        shutil.rmtree(self.follower.registry_cas)

    def release(self) -> None:
        self.follower.install()

    def served_by(self, olm: Olm) -> tuple[str, bool]:
        """The digest that a replica's answer names, and whether it has the newest version."""
        with olm.client() as client:
            answer = client.get(f"/catalogs/{self.name}/api/v1/all")
        source = answer.headers.get(HEADER_RESOLVED_SOURCE, "")
        return source.rpartition("@")[2], "p.v2.0.0" in answer.text

    def wait_resolved(self, digest: str) -> KubeObject:
        found = self.api.wait(
            self.path,
            lambda obj: digest in json.dumps((obj or {}).get("status") or {}),
            what=f"{digest} resolved",
        )
        assert found is not None
        return found

    def wait_follower(self, digest: str) -> None:
        self.api.wait(
            self.path, lambda _: self.served_by(self.follower)[0] == digest, what="follower"
        )


@pytest.fixture
def pair(tmp_path: Path, control_plane: ControlPlane, registry: Registry) -> Iterator[Pair]:
    with ExitStack() as stack:
        forget_leader(control_plane)
        stack.callback(forget_leader, control_plane)
        leader, follower = (
            Olm(tmp_path / name, control_plane, registry) for name in ("leader", "follower")
        )
        ports = [int(olm.catalogs_url.rpartition(":")[2]) for olm in (leader, follower)]
        front = stack.enter_context(RoundRobin(ports))
        api = stack.enter_context(Api(control_plane))
        cas = tmp_path / "cas"
        cas.mkdir()
        for number, olm in enumerate((leader, follower)):
            olm.install()
            shutil.copyfile(olm.catalogs_ca, cas / f"{number}.crt")
            stack.callback(olm.stop)
            olm.start_catalogd("--leader-elect", f"--external-address={front.address}")
            api.wait(LEASE, is_held, what="a leader")
        made = Pair(leader, follower, registry, api, cas)
        yield made
        api.patch(made.path, {"metadata": {"finalizers": None}})
        api.delete(made.path)
        api.wait_gone(made.path)


class Asker:
    """A catalog client as operator-controller has it, with a cache and connections of its own."""

    def __init__(self, pair: Pair, cache: Path) -> None:
        self._pair, self._cache = pair, cache

    def version(self) -> str:
        """The version that the catalog has of the package."""
        return asyncio.run(self._ask())

    async def _ask(self) -> str:
        access = load_access(str(self._pair.leader.control_plane.kubeconfig))
        async with KubeClient.connect(access) as kube:
            client = CatalogClient(
                await listed(kube, CATALOG), Catalogd(self._pair.cas), CatalogCache(self._cache)
            )
            raw = client.find_catalog(self._pair.name)
            assert raw is not None
            [content] = await client.contents([raw], "p")
            await client.close()
        assert content.package, content.unavailable
        return str(content.package.bundles[0].version)


def found_by_a_person(pair: Pair, catalog: KubeObject, cache: Path) -> bool:
    """Whether `olm` has the newest version of the package."""
    cluster = Cluster(ClusterOptions(Reach(str(pair.leader.control_plane.kubeconfig)), pair.cas))
    content = cluster.content(Served.of(catalog), ContentCache(cache))
    return any(b"p.v2.0.0" in blob for blob in content.blobs("p"))


def is_held(lease: KubeObject | None) -> bool:
    return lease is not None and bool(lease["spec"].get("holderIdentity"))


def test_nobody_gets_old_content_for_new(pair: Pair, tmp_path: Path) -> None:
    old = pair.push("1.0.0")
    manifest = catalog_manifest(pair.name, f"{pair.registry.address}/{pair.name}:latest")
    pair.leader.control_plane.apply(manifest)
    pair.wait_resolved(old)
    pair.wait_follower(old)
    knowing = [Asker(pair, tmp_path / f"knowing-{n}") for n in range(CONNECTIONS)]
    assert {asker.version() for asker in knowing} == {"1.0.0"}

    pair.hold()
    new = pair.push("2.0.0")
    pair.api.patch(pair.path, {"spec": {"source": {"image": {"pollIntervalMinutes": 5}}}})
    catalog = pair.wait_resolved(new)
    assert pair.served_by(pair.leader) == (new, True)
    assert pair.served_by(pair.follower) == (old, False)

    fresh = [Asker(pair, tmp_path / f"fresh-{n}") for n in range(CONNECTIONS)]
    assert [asker.version() for asker in (*fresh, *knowing)] == ["2.0.0"] * 2 * CONNECTIONS
    caches = [tmp_path / f"person-{n}" for n in range(CONNECTIONS)]
    assert all(found_by_a_person(pair, catalog, cache) for cache in caches)

    pair.release()
    pair.wait_follower(new)
    assert modified(pair.leader, pair) == modified(pair.follower, pair)


def modified(olm: Olm, pair: Pair) -> str:
    with olm.client() as client:
        answer = client.head(f"/catalogs/{pair.name}/api/v1/all")
    return str(answer.headers["last-modified"])
