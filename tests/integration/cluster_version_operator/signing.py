"""Releases that are signed, and those that say by whom the next one has to be."""

from pathlib import Path

from api.objects import KubeObject
from e2e.olm.releases import config_map
from tests.openpgp import Signer, statement

KEYS = "0000_20_alpha_08_keys.yaml"
"""The file of a release for what it trusts."""


def keys_of(signer: Signer, store: Path) -> KubeObject:
    """What a release that trusts a signer has: its key, and the folder of its signatures."""
    verification = {"release.openshift.io/verification-config-map": ""}
    data = {"verifier-public-key-test": signer.armoured(), "store-test": store.as_uri()}
    return config_map("keys", data, **verification)


def sign(store: Path, signer: Signer, image: str) -> None:
    """Puts the signature of an image into a store."""
    digest = image.rpartition("@")[2]
    message = signer.message(statement(critical__image={"docker-manifest-digest": digest}))
    folder = store / digest.replace(":", "=")
    folder.mkdir(parents=True)
    (folder / "signature-1").write_bytes(message)
