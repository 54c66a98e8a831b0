"""Certificates of catalogd and operator-controller, renewed in a real cluster by our clock."""

import base64
import ssl
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509

from api.objects import KubeObject
from e2e.harness.controlplane import ControlPlane
from olm_runtime.certificates.content import SecretContent
from olm_runtime.certificates.issuer import issuer
from olm_runtime.certificates.rotation import Rotation
from olm_runtime.certificates.secret import parse
from olm_runtime.certificates.serving import (
    SECRET,
    WEBHOOKS,
    CertificateFiles,
    CertificateIssuer,
)
from olm_runtime.certificates.wanted import ServingCertificate
from olm_runtime.clocks import utc_now
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, ConflictError

pytestmark = pytest.mark.integration

DAY = timedelta(days=1)
LIFETIME, SETTLE = 90 * DAY, timedelta(minutes=5)
NAME = "catalogd-service-cert"
NAMES = ("catalogd-service.olmv1-system.svc", "localhost")


class World:
    """A Secret, a webhook configuration, a leader; the test owns the time."""

    def __init__(self, client: KubeClient, namespace: str) -> None:
        self.client = client
        self.namespace = namespace
        self.now = utc_now()
        self.certificate = ServingCertificate(NAME, NAMES, (f"hook-{namespace}", "none-such"))
        self.leader = self.new_leader()

    def new_leader(self) -> CertificateIssuer:
        return CertificateIssuer(
            self.client,
            self.namespace,
            [self.certificate],
            rotation=Rotation(issuer(LIFETIME), SETTLE, lambda: self.now),
            field_manager="test",
        )

    async def after(self, time: timedelta) -> KubeObject:
        self.now += time
        await self.leader.reconcile(self.certificate)
        return await self.client.get(SECRET, NAME, self.namespace)

    async def trusted(self) -> bytes:
        found = await self.client.get(WEBHOOKS, f"hook-{self.namespace}")
        [text] = {hook["clientConfig"]["caBundle"] for hook in found["webhooks"]}
        return base64.b64decode(text)


async def hook(client: KubeClient, namespace: str) -> None:
    webhook = {
        "clientConfig": {"service": {"name": "catalogd-service", "namespace": namespace}},
        "rules": [
            {
                "apiGroups": ["none.example.com"],
                "apiVersions": ["v1"],
                "operations": ["CREATE"],
                "resources": ["nones"],
            }
        ],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    body = {
        "apiVersion": WEBHOOKS.api_version,
        "kind": WEBHOOKS.kind,
        "metadata": {"name": f"hook-{namespace}"},
        "webhooks": [webhook | {"name": f"{name}.example.com"} for name in ("one", "two")],
    }
    await client.create(body, field_manager="test")


def text(secret: KubeObject, key: str) -> bytes:
    return base64.b64decode(secret["data"][key])


async def test_a_rotation_lets_everybody_trust_what_is_served(
    control_plane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    async with KubeClient.connect(load_access(str(control_plane.kubeconfig))) as client:
        await hook(client, namespace)
        world = World(client, namespace)
        files = CertificateFiles(client, namespace, [world.certificate], tmp_path, settle=SETTLE)

        await files.look()
        assert list((tmp_path / NAME / "ca").iterdir()) == []
        assert not files.complete.is_set()
        first = await world.after(0 * DAY)
        assert first["type"] == "kubernetes.io/tls"
        served = x509.load_pem_x509_certificate(text(first, "tls.crt"))
        assert served.not_valid_after_utc - world.now < LIFETIME + DAY
        assert await world.trusted() == text(first, "ca.crt")

        # Nothing is due: nothing is written.
        assert (await world.after(30 * DAY))["metadata"] == first["metadata"]

        # A third is left: the next one is made, both are trusted, the old one is served.
        both = await world.after(31 * DAY)
        assert text(both, "tls.crt") == text(first, "tls.crt")
        assert text(both, "ca.crt").endswith(text(first, "ca.crt"))
        assert await world.trusted() == text(both, "ca.crt") != text(first, "ca.crt")
        await files.look()
        assert files.complete.is_set()
        assert (tmp_path / NAME / "ca" / "ca.crt").read_bytes() == text(both, "ca.crt")

        # A new leader does not know since when; it waits for the whole settle time again.
        world.leader = world.new_leader()
        assert text(await world.after(SETTLE), "tls.crt") == text(first, "tls.crt")
        promoted = await world.after(SETTLE)
        assert text(promoted, "tls.crt") == text(both, "next.crt")
        assert "next.crt" not in promoted["data"]
        assert await world.trusted() == text(both, "ca.crt")
        await files.look()
        assert loads(tmp_path / NAME)

        # The first CA has ended.
        last = await world.after(30 * DAY)
        assert text(last, "tls.crt") == text(promoted, "tls.crt")
        assert await world.trusted() == text(last, "ca.crt")
        assert text(both, "ca.crt").startswith(text(last, "ca.crt"))


def loads(folder: Path) -> bool:
    """Whether a server could serve with the files."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    return (folder / "tls.key").stat().st_mode & 0o077 == 0


async def test_two_leaders_at_once_do_not_overwrite_each_other(
    control_plane: ControlPlane, namespace: str
) -> None:
    """The second one read before the first one wrote: its write is refused, and it reads again."""
    async with KubeClient.connect(load_access(str(control_plane.kubeconfig))) as client:
        world = World(client, namespace)
        await world.after(0 * DAY)
        before = await client.get(SECRET, NAME, namespace)
        due = await world.after(61 * DAY)
        late = world.new_leader()
        with pytest.raises(ConflictError):
            await late._write(world.certificate, before, content_of(due))
        with pytest.raises(ApiError):  # as if there were none yet
            await late._write(world.certificate, None, content_of(due))


def content_of(secret: KubeObject) -> SecretContent:
    content = parse(secret["data"], NAMES)
    assert content is not None
    return content
