"""Which release images the operator takes: signed ones, forced ones, those that hold a release."""

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cluster_version.names import VERIFICATION_CONFIG_MAP
from cluster_version.payload.retrieval_job import folder_of, job_name
from cluster_version.signatures.stores import LABEL, NAMESPACE
from e2e.harness.controlplane import ControlPlane, wait_until
from e2e.harness.images import build_image
from e2e.harness.registry import Registry
from e2e.olm.cluster_updates import NAMESPACE as OPERATOR_NAMESPACE
from e2e.olm.cluster_updates import ClusterUpdates
from e2e.olm.releases import PROFILE, ReleaseSpec
from tests.openpgp import Signer, statement

pytestmark = pytest.mark.integration

RING = "verifier-public-key-test"
JOBS = f"/apis/batch/v1/namespaces/{OPERATOR_NAMESPACE}/jobs"
SIGNED = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
Publish = Callable[[ReleaseSpec], str]


@pytest.fixture(scope="module")
def signer() -> Signer:
    """Who signs the releases of the product."""
    return Signer()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of signatures."""
    return tmp_path / "signatures"


@pytest.fixture
def first(signer: Signer, store: Path, control_plane: ControlPlane) -> ReleaseSpec:
    """A release that says who signs the next."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    control_plane.apply(json.dumps(namespace))
    return trusting("1.0.0", signer, store)


def trusting(version: str, signer: Signer, store: Path) -> ReleaseSpec:
    """A release that trusts a signer."""
    block = "PGP PUBLIC KEY BLOCK-----"
    key = base64.encodebytes(signer.certificate()).decode()
    keys = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "release-verification",
            "namespace": NAMESPACE,
            "annotations": {**PROFILE, VERIFICATION_CONFIG_MAP: ""},
        },
        "data": {
            RING: f"-----BEGIN {block}\n\n{key}-----END {block}\n",
            "store-test": store.as_uri(),
        },
    }
    return ReleaseSpec(version, extra={"0000_10_product_03_keys.yaml": keys})


@pytest.fixture
def publish(registry: Registry) -> Publish:
    """Pushes the image of a release; its reference by digest."""
    return lambda release: registry.push(build_image([release.files()]), "product").reference


def start(cluster: ClusterUpdates, release: ReleaseSpec, registry: Registry, *flags: str) -> None:
    assert registry.ca_file
    cluster.start(release, f"--pull-cas-dir={registry.ca_file.parent}", *flags)
    cluster.report("1.0.0")
    cluster.wait_level("1.0.0")


def digest_of(image: str) -> str:
    return image.partition("@")[2]


def signature(signer: Signer, image: str) -> bytes:
    named = {"docker-manifest-digest": digest_of(image)}
    return signer.message(statement(critical__image=named))


def put(store: Path, image: str, number: int, message: bytes) -> None:
    folder = store / digest_of(image).replace(":", "=")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"signature-{number}").write_bytes(message)


def refused(cluster: ClusterUpdates, image: str, text: str) -> str:
    """Asks for a release that is not taken; the message."""
    cluster.ask(image=image)
    message = cluster.wait_condition("ReleaseAccepted", "False", text)
    status = cluster.version["status"]
    assert [entry["version"] for entry in status["history"]] == ["1.0.0"]
    assert status["desired"]["version"] == "1.0.0"
    cluster.ask()
    cluster.wait_condition("ReleaseAccepted", "True", 'version="1.0.0"')
    return message


def taken(cluster: ClusterUpdates, image: str, *, force: bool = False) -> dict[str, Any]:
    """Asks for a release that is taken; its entry in the history."""
    cluster.ask(image=image, force=force)
    wait_until(
        lambda: cluster.version["status"]["history"][0]["image"] == image, what="the new release"
    )
    newest: dict[str, Any] = cluster.version["status"]["history"][0]
    return newest


def test_only_signed_releases_are_taken(
    cluster: ClusterUpdates,
    first: ReleaseSpec,
    registry: Registry,
    publish: Publish,
    signer: Signer,
    store: Path,
) -> None:
    other = Signer()
    third = publish(replace(first, version="1.0.2"))
    encoded = base64.b64encode(signature(other, third)).decode()
    signed = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "signed", "namespace": NAMESPACE, "labels": {LABEL: ""}},
        "binaryData": {f"{digest_of(third).replace(':', '-')}-1": encoded},
    }
    cluster.control_plane.apply(json.dumps(signed))
    start(cluster, first, registry)
    image = publish(trusting("1.0.1", other, store))
    put(store, image, 1, signature(other, image))
    unverified = f"unable to verify {digest_of(image)} against keyrings: {RING}"
    message = refused(cluster, image, "cannot be verified")
    assert message == (
        f'Retrieving payload failed version="" image="{image}" failure='
        f"The update cannot be verified: {unverified}"
    )
    refused(cluster, image.replace("@", ":1.0.1@").partition("@")[0], "not accessed via digest")
    refused(cluster, third, "cannot be verified")
    put(store, image, 2, signature(signer, image))
    newest = taken(cluster, image)
    assert (newest["version"], newest["verified"]) == ("1.0.1", True)
    assert "cannot be verified" not in newest.get("acceptedRisks", "")
    cluster.report("1.0.1")
    cluster.wait_level("1.0.1")
    assert taken(cluster, third)["verified"] is True  # as 1.0.1 demands, in the same process
    cluster.api.delete(SIGNED)


def test_a_forced_release_is_taken_unsigned_and_one_that_is_none_is_not(
    cluster: ClusterUpdates, first: ReleaseSpec, registry: Registry, publish: Publish
) -> None:
    start(cluster, first, registry)
    files = replace(first, version="1.0.1").files()
    del files["release-manifests/image-references"]
    broken = registry.push(build_image([files]), "product").reference
    cluster.ask(image=broken, force=True)
    cluster.wait_condition(
        "ReleaseAccepted", "False", "image-references: no such file or directory"
    )
    assert cluster.version["status"]["desired"]["version"] == "1.0.0"
    missing = f"{broken.partition('@')[0]}@sha256:{'0' * 64}"
    cluster.ask(image=missing, force=True)
    cluster.wait_condition("ReleaseAccepted", "False", "Unable to download and prepare the update")
    image = publish(replace(first, version="1.0.1"))
    newest = taken(cluster, image, force=True)
    assert newest["verified"] is False
    assert newest["acceptedRisks"].startswith(
        f'Target release version="" image="{image}" cannot be verified, but continuing anyway '
        f"because the update was forced: unable to verify {digest_of(image)} against keyrings: "
    )


def test_a_job_brings_a_release_onto_the_node(
    cluster: ClusterUpdates, first: ReleaseSpec, registry: Registry, tmp_path: Path
) -> None:
    start(cluster, first, registry, "--retrieve-by=job")
    image = f"example.com/release@sha256:{'1' * 64}"
    cluster.ask(image=image, force=True)
    name = job_name("", image)
    job = cluster.api.wait(f"{JOBS}/{name}", lambda found: found is not None, what=name)
    assert job
    volume = job["spec"]["template"]["spec"]["volumes"][0]
    replace(first, version="1.0.1").write(Path(volume["hostPath"]["path"]) / folder_of(image))
    now = {"startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T00:00:00Z"}
    conditions = [{"type": each, "status": "True"} for each in ("SuccessCriteriaMet", "Complete")]
    cluster.api.patch(
        f"{JOBS}/{name}/status", {"status": {**now, "succeeded": 1, "conditions": conditions}}
    )
    wait_until(
        lambda: cluster.version["status"]["desired"]["version"] == "1.0.1", what="the new release"
    )
    cluster.api.delete(JOBS)
