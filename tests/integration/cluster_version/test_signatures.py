"""Signatures of release images from a real cluster and real servers."""

import asyncio
import base64
import ssl
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import pytest_asyncio

from api.objects import KubeObject
from cluster_version.io.signature_config_maps import MANAGED, SignatureConfigMaps
from cluster_version.io.signatures import OwnStore, Verifier, cluster_verifier, own_stores_of
from cluster_version.signatures.configuration import CONFIG_MAP, Configuration
from cluster_version.signatures.errors import VerificationError
from cluster_version.signatures.key_rings import read_key_ring
from cluster_version.signatures.stores import LABEL, NAMESPACE
from e2e.harness.pki import CertificateAuthority
from olm_runtime.kube.client import KubeClient
from tests.openpgp import DIGEST, Signer, statement

pytestmark = [pytest.mark.integration, pytest.mark.asyncio]

RING = "verifier-public-key-test"


class _Quiet(SimpleHTTPRequestHandler):
    """Serves a folder; answers 503 for files that are empty."""

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if path.is_file() and not path.stat().st_size:
            self.send_error(503)
        else:
            super().do_GET()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name upstream
        """Nothing."""


def serve(folder: Path, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder)) as server:
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a store, with the folder of the digest."""
    (tmp_path / "store" / DIGEST.replace(":", "=")).mkdir(parents=True)
    return tmp_path / "store"


@pytest.fixture
def store(folder: Path) -> Iterator[str]:
    """A store over HTTP."""
    yield from serve(folder)


@pytest.fixture(scope="module")
def authority() -> CertificateAuthority:
    """Whom no system trusts."""
    return CertificateAuthority.create("signatures")


@pytest.fixture
def tls_store(folder: Path, tmp_path: Path, authority: CertificateAuthority) -> Iterator[str]:
    """The same store over HTTPS."""
    files = authority.issue_server("store", hosts=["127.0.0.1"]).write(tmp_path, "store")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files)
    yield from serve(folder, context)


@pytest.fixture(scope="module")
def signer() -> Signer:
    """Who signs releases."""
    return Signer()


@pytest_asyncio.fixture
async def signatures(client: KubeClient) -> KubeObject:
    """The namespaces, and a config map for signatures that has none."""
    for name in (NAMESPACE, "openshift-config"):
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        await client.apply(namespace, field_manager="test")
    metadata = {"name": "signatures", "namespace": NAMESPACE, "labels": {LABEL: ""}}
    empty = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    await client.apply(empty, field_manager="test")
    return empty


def put(folder: Path, number: int, message: bytes) -> None:
    (folder / DIGEST.replace(":", "=") / f"signature-{number}").write_bytes(message)


def verifier(
    client: KubeClient,
    signer: Signer,
    stores: Sequence[str],
    own: Sequence[OwnStore] | None = None,
) -> Verifier:
    ring = read_key_ring(signer.certificate())
    return cluster_verifier(client, Configuration({RING: ring}, tuple(stores)), lambda: own)


async def refused(verifier: Verifier) -> VerificationError:
    with pytest.raises(VerificationError) as caught:
        await verifier.verify(DIGEST)
    assert caught.value.message == f"unable to verify {DIGEST} against keyrings: {RING}"
    return caught.value


@pytest.mark.usefixtures("signatures")
async def test_a_good_signature_counts_whatever_is_before_it(
    client: KubeClient, signer: Signer, folder: Path, store: str
) -> None:
    put(folder, 1, Signer().message(statement()))
    put(folder, 2, b"")
    tried = verifier(client, signer, [store])
    error = await refused(tried)
    place = f"{store}/{DIGEST.replace(':', '=')}"
    prefix = DIGEST.replace(":", "-")
    assert error.causes[:4] == (
        f"prefix {prefix} in config map signatures: no more signatures to check",
        "invalid signature",
        f"unable to retrieve signature from {place}/signature-2: 503 Service Unavailable",
        f"unable to retrieve signature from {place}/signature-3: no more signatures to check",
    )
    put(folder, 3, signer.message(statement()))
    await tried.verify(DIGEST)
    put(folder, 3, b"gone")
    await tried.verify(DIGEST)
    assert tried.signatures == {DIGEST: (signer.message(statement()),)}


@pytest.mark.usefixtures("signatures")
async def test_a_folder_and_servers_are_asked_whatever_becomes_of_one(
    client: KubeClient, signer: Signer, folder: Path
) -> None:
    unreachable = "http://127.0.0.1:1"
    error = await refused(verifier(client, signer, [unreachable, folder.as_uri()]))
    assert any("connection refused" in cause for cause in error.causes)
    put(folder, 1, signer.message(statement()))
    await verifier(client, signer, [unreachable, folder.as_uri()]).verify(DIGEST)


async def test_own_stores_take_the_place_of_those_of_the_release(
    client: KubeClient,
    signer: Signer,
    folder: Path,
    store: str,
    tls_store: str,
    authority: CertificateAuthority,
    signatures: KubeObject,
) -> None:
    put(folder, 1, signer.message(statement()))
    ca = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "store-ca", "namespace": "openshift-config"},
        "data": {"ca.crt": authority.certificate.decode()},
    }
    await client.apply(ca, field_manager="test")
    error = await refused(verifier(client, signer, [store], own=[]))
    assert "is an empty array" in error.unfolded
    error = await refused(verifier(client, signer, [store], own=[OwnStore(tls_store)]))
    assert error.causes[-1].startswith("ClusterVersion spec.signatureStores exhausted")
    error = await refused(verifier(client, signer, [store], own=[OwnStore(tls_store, "missing")]))
    assert 'configmaps "missing" not found' in error.unfolded
    spec = {"signatureStores": [{"url": tls_store, "ca": {"name": "store-ca"}}]}
    await verifier(client, signer, [], own_stores_of({"spec": spec})).verify(DIGEST)


async def test_config_maps_are_asked_first_and_what_was_found_is_stored(
    client: KubeClient, signer: Signer, signatures: KubeObject
) -> None:
    encoded = base64.b64encode(signer.message(statement())).decode()
    data = {f"{DIGEST.replace(':', '-')}-7": encoded}
    await client.apply(signatures | {"binaryData": data}, field_manager="test")
    found = verifier(client, signer, ["http://127.0.0.1:1"])
    await found.verify(DIGEST)
    config_maps = SignatureConfigMaps(client)
    await config_maps.write({}, "test")
    assert await client.find(CONFIG_MAP, MANAGED, NAMESPACE) is None
    versions = set()
    for _ in range(2):
        await config_maps.write(found.signatures, "test")
        stored = await client.get(CONFIG_MAP, MANAGED, NAMESPACE)
        assert stored["binaryData"] == {f"{DIGEST.replace(':', '-')}-0": encoded}
        versions.add(stored["metadata"]["resourceVersion"])
    assert len(versions) == 1
    assert MANAGED in {each["metadata"]["name"] for each in await config_maps.list()}
    await client.delete(stored)
    keeping = asyncio.create_task(config_maps.keep(lambda: found.signatures, "test", 0.01))
    async with asyncio.timeout(60):
        while not await client.find(CONFIG_MAP, MANAGED, NAMESPACE):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)
    await client.delete(stored)
    await client.delete(signatures)
    assert MANAGED in {each["metadata"]["name"] for each in await config_maps.list()}
