"""Serving certificates of programs in Secrets of one namespace, and as files.

The leader issues and rotates them, and writes the CAs to trust into webhook configurations and
APIServices. Every replica follows them as files: it serves with one and trusts others by theirs.
"""

import asyncio
import base64
import logging
import os
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from api.objects import GVK, KubeObject, metadata
from olm_runtime.certificates.callers import trusting
from olm_runtime.certificates.content import (
    NEXT_CERTIFICATE_KEY,
    NEXT_PRIVATE_KEY_KEY,
    SecretContent,
)
from olm_runtime.certificates.rotation import Due, Rotation, Situation
from olm_runtime.certificates.secret import parse
from olm_runtime.certificates.wanted import ServingCertificate
from olm_runtime.controller.attempt import attempt
from olm_runtime.disk import disk_errors
from olm_runtime.kube.client import KubeClient

SECRET = GVK("", "v1", "Secret")
WEBHOOKS = GVK("admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration")
API_SERVICE = GVK("apiregistration.k8s.io", "v1", "APIService")
LOOK_SECONDS = 20.0
LOOKS_WHILE_SETTLING = 4
"""A new CA is known everywhere long before it is served with."""
FIRST_LOOK_SECONDS = 0.5
"""While something is not there yet."""

log = logging.getLogger(__name__)


class CertificateFiles:
    """A folder that follows the Secrets: SECRET/tls.crt, SECRET/tls.key and SECRET/ca/ca.crt."""

    def __init__(
        self,
        client: KubeClient,
        namespace: str,
        certificates: Sequence[ServingCertificate],
        folder: Path,
        *,
        settle: timedelta,
    ) -> None:
        """Nothing is read or written yet. `settle`: a new CA has to be known by then."""
        self._client = client
        self._namespace = namespace
        self._certificates = certificates
        self._folder = folder
        self._pause = _pause(settle)
        self._written: dict[str, SecretContent | None] = {}
        self.complete = asyncio.Event()
        """Set once every certificate is there."""

    async def follow(self) -> None:
        """Follows until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(self._pause if self.complete.is_set() else FIRST_LOOK_SECONDS)

    async def look(self) -> None:
        """Writes what has changed; what cannot be read stays as it is."""
        for certificate in self._certificates:
            following = f"following of certificate {certificate.secret}"
            failed = await attempt(self._look_at(certificate), following)
            if failed is not None:
                log.warning("%s failed: %s", following, failed.message)
        if all(self._written.get(certificate.secret) for certificate in self._certificates):
            self.complete.set()

    async def _look_at(self, certificate: ServingCertificate) -> None:
        """Raises ApiError, DiskError."""
        name, folder = certificate.secret, self._folder / certificate.secret
        _, content = await _read(self._client, self._namespace, certificate)
        if name not in self._written or content != self._written[name]:
            with disk_errors(f"write certificate {name}", folder):
                await asyncio.to_thread(_write_files, folder, content)
            self._written[name] = content


class CertificateIssuer:
    """Issues and rotates; for the leader only. Killed between any two writes, it goes on."""

    def __init__(
        self,
        client: KubeClient,
        namespace: str,
        certificates: Sequence[ServingCertificate],
        *,
        rotation: Rotation,
        field_manager: str,
    ) -> None:
        """Nothing is read or written yet."""
        self._client = client
        self._namespace = namespace
        self._certificates = certificates
        self._rotation = rotation
        self._field_manager = field_manager
        self._spread: dict[str, tuple[bytes, datetime]] = {}

    async def run(self) -> None:
        """Reconciles all of them until cancelled."""
        while True:
            done = [await self._attempt(certificate) for certificate in self._certificates]
            await asyncio.sleep(_pause(self._rotation.settle) if all(done) else FIRST_LOOK_SECONDS)

    async def _attempt(self, certificate: ServingCertificate) -> bool:
        what = f"rotation of certificate {certificate.secret}"
        failed = await attempt(self.reconcile(certificate), what)
        if failed is not None:
            log.warning("%s failed: %s", what, failed.message)
        return failed is None

    async def reconcile(self, certificate: ServingCertificate) -> None:
        """Takes the step that is due for one of them. Raises ApiError."""
        found, content = await _read(self._client, self._namespace, certificate)
        bundle, since = self._spread.get(certificate.secret, (b"", None))
        spread_since = since if content is not None and content.bundle == bundle else None
        step, after = self._rotation.advance(
            Situation(content, spread_since), certificate.dns_names, self._rotation.clock()
        )
        if after != content:
            log.info("certificate %s: %s", certificate.secret, step.name.lower())
            await self._write(certificate, found, after)
        for name in certificate.webhooks:
            await self._inject(name, after.bundle)
        for name in certificate.api_services:
            await self._vouch(name, after.bundle)
        if step is not Due.NOTHING or spread_since is None:
            self._spread[certificate.secret] = (after.bundle, self._rotation.clock())

    async def _write(
        self, certificate: ServingCertificate, found: KubeObject | None, content: SecretContent
    ) -> None:
        secret: KubeObject = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": certificate.secret, "namespace": self._namespace},
            "type": "kubernetes.io/tls",
            "data": content.data(),
        }
        if found is None:
            await self._client.create(secret, field_manager=self._field_manager)
            return
        dropped: dict[str, str | None] = {NEXT_CERTIFICATE_KEY: None, NEXT_PRIVATE_KEY_KEY: None}
        patch = {
            # Only what was read is replaced: another leader may have been faster.
            "metadata": {"resourceVersion": metadata(found)["resourceVersion"]},
            "data": dropped | content.data(),
        }
        await self._client.patch(secret, patch, field_manager=self._field_manager)

    async def _inject(self, name: str, authorities: bytes) -> None:
        """Puts the CAs into all webhooks of a configuration; one that is not there is no fault."""
        found = await self._client.find(WEBHOOKS, name)
        if found is None:
            return
        webhooks = trusting(found, authorities)["webhooks"]
        if webhooks == (found.get("webhooks") or []):
            return
        version = metadata(found)["resourceVersion"]
        patch = {"metadata": {"resourceVersion": version}, "webhooks": webhooks}
        await self._client.patch(found, patch, field_manager=self._field_manager)

    async def _vouch(self, name: str, authorities: bytes) -> None:
        """Puts the CAs into an APIService; one that is not there is no fault."""
        found = await self._client.find(API_SERVICE, name)
        bundle = base64.b64encode(authorities).decode()
        if found is None or found["spec"].get("caBundle") == bundle:
            return
        patch = {
            "metadata": {"resourceVersion": metadata(found)["resourceVersion"]},
            # The API server refuses CAs where it is told not to look at the certificate.
            "spec": {"caBundle": bundle, "insecureSkipTLSVerify": False},
        }
        await self._client.patch(found, patch, field_manager=self._field_manager)


def _pause(settle: timedelta) -> float:
    """Seconds between looks."""
    return max(FIRST_LOOK_SECONDS, min(LOOK_SECONDS, settle.total_seconds() / LOOKS_WHILE_SETTLING))


async def _read(
    client: KubeClient, namespace: str, certificate: ServingCertificate
) -> tuple[KubeObject | None, SecretContent | None]:
    found = await client.find(SECRET, certificate.secret, namespace)
    return found, parse((found or {}).get("data") or {}, certificate.dns_names)


def _write_files(folder: Path, content: SecretContent | None) -> None:
    """Each file is replaced in one step; the key before the certificate that goes with it.

    The folder of CAs is there from the beginning: an empty one trusts nobody, a missing one is an
    error. What was written stays when the Secret has gone.
    """
    (folder / "ca").mkdir(parents=True, exist_ok=True)
    if content is None:
        return
    for name, data in (
        ("ca/ca.crt", content.bundle),
        ("tls.key", content.current.key),
        ("tls.crt", content.current.certificate),
    ):
        aside = folder / f"{name}.new"
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.truncate()
            file.write(data)
        aside.replace(folder / name)
