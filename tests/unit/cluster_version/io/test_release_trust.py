"""Whose signatures count, as releases follow each other in one process."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from api.objects import KubeObject
from cluster_version.io.release_trust import ReleaseTrust
from cluster_version.io.signatures import Verifier
from cluster_version.names import VERIFICATION_CONFIG_MAP
from cluster_version.payload.contents import Payload
from cluster_version.payload.manifests import Manifest
from cluster_version.payload.release import Release
from cluster_version.signatures.configuration import Configuration, ConfigurationError
from cluster_version.signatures.errors import VerificationError
from tests.openpgp import BEGAN, DIGEST, Signer, statement


def payload(version: str, data: dict[str, str] | None) -> Payload:
    annotations = {VERIFICATION_CONFIG_MAP: ""}
    keys = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "keys", "namespace": "trust", "annotations": annotations},
        "data": data,
    }
    manifests = () if data is None else (Manifest("keys.yaml", keys),)
    return Payload(Release(version, f"image@{version}"), "amd64", manifests, version)


def verifier_of(configuration: Configuration | None) -> Verifier:
    async def none() -> Sequence[KubeObject]:
        return ()

    async def connect(_: str) -> httpx.AsyncClient:
        raise AssertionError("signatures are in a folder")

    return Verifier(configuration, none, lambda: None, connect, lambda: BEGAN + timedelta(days=1))


async def test_the_release_that_is_applied_says_who_signs(tmp_path: Path) -> None:
    first, second = Signer(), Signer()
    folder = tmp_path / DIGEST.replace(":", "=")
    folder.mkdir()
    (folder / "signature-1").write_bytes(first.message(statement()))

    def trusting(version: str, signer: Signer) -> Payload:
        ring = {"verifier-public-key-a": signer.armoured(), "store-a": tmp_path.as_uri()}
        return payload(version, ring)

    applied = own = trusting("1.0.0", first)
    trust = ReleaseTrust(own, lambda: applied, verifier_of)
    await trust.verify(DIGEST)
    assert list(trust.signatures) == [DIGEST]
    for other, message in (
        (trusting("1.0.1", second), "against keyrings: verifier-public-key-a"),
        (payload("1.0.2", None), "verification is not possible"),
        (payload("1.0.3", {"store-a": "ftp://a"}), "trust/keys has an invalid key"),
    ):
        applied = other
        with pytest.raises(VerificationError, match=message):
            await trust.verify(DIGEST)
        assert not trust.signatures
    applied = own
    await trust.verify(DIGEST)


def test_an_own_release_with_which_nothing_can_be_verified_ends_the_program() -> None:
    own = payload("1.0.0", {})
    with pytest.raises(ConfigurationError, match="did not provide any signature stores"):
        ReleaseTrust(own, lambda: own, verifier_of)
