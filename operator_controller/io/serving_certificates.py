"""The serving certificates of catalogd and of ourselves, where nobody else issues them.

The leader issues and rotates them in Secrets of the system namespace, as it does for webhooks of
bundles, and tells webhook configurations whom to trust. Every replica has them as files, because
it serves metrics with one and checks catalogd with the other; catalogd's pods mount the Secret.
"""

import asyncio
import base64
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from api.objects import GVK, KubeObject, metadata
from olm_runtime.controller.attempt import attempt
from olm_runtime.disk import disk_errors
from olm_runtime.kube.client import KubeClient
from operator_controller.certificates.kept import (
    NEXT_CERTIFICATE_KEY,
    NEXT_PRIVATE_KEY_KEY,
    Kept,
    parse,
)
from operator_controller.certificates.policy import Due, Situation, advance
from operator_controller.io.certificate_issuer import Issue

SECRET = GVK("", "v1", "Secret")
WEBHOOKS = GVK("admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration")
FIELD_MANAGER = "operator-controller"
LOOK_SECONDS = 20.0
LOOKS_WHILE_SETTLING = 4
"""A new CA is known everywhere long before it is served with."""
FIRST_LOOK_SECONDS = 0.5
"""While something is not there yet."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServingCertificate:
    """A Secret of the system namespace, whom its certificate is for, and who trusts its CA.

    webhooks   names of MutatingWebhookConfigurations
    """

    secret: str
    dns_names: tuple[str, ...]
    webhooks: tuple[str, ...] = ()


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
        self._written: dict[str, Kept | None] = {}
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
        _, kept = await _read(self._client, self._namespace, certificate)
        if name not in self._written or kept != self._written[name]:
            with disk_errors(f"write certificate {name}", folder):
                await asyncio.to_thread(_write_files, folder, kept)
            self._written[name] = kept


class CertificateIssuer:
    """Issues and rotates; for the leader only. Killed between any two writes, it goes on."""

    def __init__(
        self,
        client: KubeClient,
        namespace: str,
        certificates: Sequence[ServingCertificate],
        *,
        issue: Issue,
        settle: timedelta,
        clock: Callable[[], datetime],
    ) -> None:
        """`settle`: how long everybody has trusted a CA before it is served with."""
        self._client = client
        self._namespace = namespace
        self._certificates = certificates
        self._issue = issue
        self._settle = settle
        self._clock = clock
        self._spread: dict[str, tuple[bytes, datetime]] = {}

    async def run(self) -> None:
        """Keeps all of them until cancelled."""
        while True:
            kept = [await self._tried(certificate) for certificate in self._certificates]
            await asyncio.sleep(_pause(self._settle) if all(kept) else FIRST_LOOK_SECONDS)

    async def _tried(self, certificate: ServingCertificate) -> bool:
        keeping = f"keeping of certificate {certificate.secret}"
        failed = await attempt(self.keep(certificate), keeping)
        if failed is not None:
            log.warning("%s failed: %s", keeping, failed.message)
        return failed is None

    async def keep(self, certificate: ServingCertificate) -> None:
        """Takes the step that is due for one of them. Raises ApiError."""
        found, kept = await _read(self._client, self._namespace, certificate)
        now = self._clock()
        bundle, since = self._spread.get(certificate.secret, (b"", None))
        spread_since = since if kept is not None and kept.bundle == bundle else None
        step, after = advance(
            Situation(kept, spread_since),
            lambda: self._issue(certificate.dns_names, now),
            now,
            self._settle,
        )
        if after != kept:
            log.info("certificate %s: %s", certificate.secret, step.name.lower())
            await self._write(certificate, found, after)
        for name in certificate.webhooks:
            await self._tell(name, after.bundle)
        if step is not Due.NOTHING or spread_since is None:
            self._spread[certificate.secret] = (after.bundle, self._clock())

    async def _write(
        self, certificate: ServingCertificate, found: KubeObject | None, kept: Kept
    ) -> None:
        secret: KubeObject = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": certificate.secret, "namespace": self._namespace},
            "type": "kubernetes.io/tls",
            "data": kept.data(),
        }
        if found is None:
            await self._client.create(secret, field_manager=FIELD_MANAGER)
            return
        dropped: dict[str, str | None] = {NEXT_CERTIFICATE_KEY: None, NEXT_PRIVATE_KEY_KEY: None}
        patch = {
            # Only what was read is replaced: another leader may have been faster.
            "metadata": {"resourceVersion": metadata(found)["resourceVersion"]},
            "data": dropped | kept.data(),
        }
        await self._client.patch(secret, patch, field_manager=FIELD_MANAGER)

    async def _tell(self, name: str, bundle: bytes) -> None:
        """Lets all webhooks of a configuration trust the CAs; one that is not there is no fault."""
        found = await self._client.find(WEBHOOKS, name)
        if found is None:
            return
        text = base64.b64encode(bundle).decode()
        webhooks = found.get("webhooks") or []
        if all(webhook["clientConfig"].get("caBundle") == text for webhook in webhooks):
            return
        told = [
            webhook | {"clientConfig": webhook["clientConfig"] | {"caBundle": text}}
            for webhook in webhooks
        ]
        version = metadata(found)["resourceVersion"]
        patch = {"metadata": {"resourceVersion": version}, "webhooks": told}
        await self._client.patch(found, patch, field_manager=FIELD_MANAGER)


def _pause(settle: timedelta) -> float:
    """Seconds between looks."""
    return max(FIRST_LOOK_SECONDS, min(LOOK_SECONDS, settle.total_seconds() / LOOKS_WHILE_SETTLING))


async def _read(
    client: KubeClient, namespace: str, certificate: ServingCertificate
) -> tuple[KubeObject | None, Kept | None]:
    found = await client.find(SECRET, certificate.secret, namespace)
    return found, parse((found or {}).get("data") or {}, certificate.dns_names)


def _write_files(folder: Path, kept: Kept | None) -> None:
    """Each file is replaced in one step; the key before the certificate that goes with it.

    The folder of CAs is there from the beginning: an empty one trusts nobody, a missing one is an
    error. What was written stays when the Secret has gone.
    """
    (folder / "ca").mkdir(parents=True, exist_ok=True)
    if kept is None:
        return
    for name, content in (
        ("ca/ca.crt", kept.bundle),
        ("tls.key", kept.current.key),
        ("tls.crt", kept.current.certificate),
    ):
        aside = folder / f"{name}.new"
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.truncate()
            file.write(content)
        aside.replace(folder / name)
