"""`olm cluster release` with a real registry and a real cluster."""

import base64
import json
import subprocess
from pathlib import Path

import pytest

from api.objects import KubeObject
from cluster_version.names import DEFAULT_PROFILE, INCLUDE_PREFIX, VERIFICATION_CONFIG_MAP
from cluster_version.signatures.stores import LABEL, NAMESPACE
from e2e.harness.controlplane import ControlPlane
from e2e.harness.images import Platform, build_image, build_index
from e2e.harness.registry import Registry
from e2e.olm.warm import warm_program
from olm_runtime.registry.image_store import ImageStore
from olm_runtime.registry.settings import PullSettings, this_platform
from tests.openpgp import Signer, statement

pytestmark = [pytest.mark.integration, pytest.mark.asyncio]

ALPHA = f"registry.example.com/alpha@sha256:{'a' * 64}"
SECONDS = "1700000000"


def olm(registry: Registry, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    assert registry.ca_file
    return subprocess.run(
        [
            warm_program("olm"),
            *("cluster", "release", *arguments),
            f"--cas-dir={registry.ca_file.parent}",
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={"SOURCE_DATE_EPOCH": SECONDS, "HOME": "/nonexistent"},
    )


def done(registry: Registry, *arguments: str | Path) -> str:
    finished = olm(registry, *arguments)
    assert (finished.returncode, finished.stderr) == (0, "")
    return finished.stdout


def config_map(name: str, data: dict[str, str], **annotations: str) -> KubeObject:
    included = {f"{INCLUDE_PREFIX}{DEFAULT_PROFILE}": "true", **annotations}
    metadata = {"name": name, "namespace": NAMESPACE, "annotations": included}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


@pytest.fixture(scope="module")
def signer() -> Signer:
    """Who signs releases."""
    return Signer()


@pytest.fixture
def keys(signer: Signer) -> KubeObject:
    """Says who has to sign."""
    armoured = base64.encodebytes(signer.certificate()).decode()
    block = "PGP PUBLIC KEY BLOCK-----"
    key = f"-----BEGIN {block}\n\n{armoured}-----END {block}\n"
    data = {"verifier-public-key-test": key, "store-nowhere": "file:///nonexistent"}
    return config_map("release-verification", data, **{VERIFICATION_CONFIG_MAP: ""})


@pytest.fixture
def components(tmp_path: Path, keys: KubeObject) -> Path:
    """The folders of two components."""
    images = {
        "apiVersion": "image.openshift.io/v1",
        "kind": "ImageStream",
        "spec": {"tags": [{"name": "alpha", "from": {"name": "alpha:dev"}}]},
    }
    files = {
        "alpha/0000_20_alpha_01_a.yaml": config_map("a", {"image": "alpha:dev"}),
        "alpha/image-references": images,
        "verification/keys.json": keys,
    }
    for path, content in files.items():
        file = tmp_path / "components" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content))
    return tmp_path / "components"


def made(registry: Registry, components: Path, *options: str) -> str:
    """A new release in the registry, by digest."""
    tag = f"{registry.address}/releases/made:1.0.1"
    given = ("--version=1.0.1", f"--image=alpha={ALPHA}", "--push", f"--tag={tag}", *options)
    return done(registry, "new", components, *given).strip()


async def test_a_release_is_made_shown_and_extracted(
    registry: Registry, components: Path, tmp_path: Path
) -> None:
    image = made(registry, components, "--previous=1.0.0")
    assert made(registry, components, "--previous=1.0.0") == image
    facts = json.loads(done(registry, "info", image, "-o", "json"))
    assert (facts["image"], facts["version"], facts["previous"]) == (image, "1.0.1", ["1.0.0"])
    assert (facts["manifests"], facts["images"]) == (2, {"alpha": ALPHA})
    assert f"Pull From: {image}\n" in done(registry, "info", image.partition("@")[0] + ":1.0.1")
    said = done(registry, "extract", image, "--to", tmp_path / "out")
    digest = image.partition("@")[2]
    assert said == (
        f"Extracted release payload from digest {digest} created at 2023-11-14T22:13:20Z\n"
    )
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [
        "0000_20_alpha_01_a.yaml",
        "0000_50_verification_keys.json",
        "image-references",
        "release-metadata",
    ]
    assert ALPHA in (tmp_path / "out" / "0000_20_alpha_01_a.yaml").read_text()


@pytest.mark.parametrize("indexed", [False, True])
async def test_a_release_is_put_on_top_of_the_program_that_applies_it(
    registry: Registry, components: Path, tmp_path: Path, indexed: bool
) -> None:
    platforms = [Platform("linux", name) for name in ("s390x", this_platform().architecture)]
    programs = [
        build_image([{"usr/bin/program": each.architecture.encode()}], platform=each)
        for each in platforms
    ]
    base = registry.push(build_index(programs) if indexed else programs[1], "releases/program")
    image = made(registry, components, f"--from={base.reference}")
    assert registry.ca_file
    settings = PullSettings(cas_dir=registry.ca_file.parent)
    store = ImageStore(tmp_path / "store", lambda: settings, jitter=lambda: 0.0)
    files = await (await store.pull(image, owner="o")).read()
    assert files["usr/bin/program"] == this_platform().architecture.encode()
    assert "release-manifests/0000_20_alpha_01_a.yaml" in files
    store.forget("o")


async def test_what_is_no_release_is_reported(
    registry: Registry, components: Path, tmp_path: Path
) -> None:
    other = registry.push(build_image([{"a": b"b"}]), "releases/other").reference
    for command in ("info", "extract"):
        assert f"{other}: it is no release image" in olm(registry, command, other).stderr
    assert "no such folder" in olm(registry, "info", "./nothing").stderr
    tag = f"{registry.address}/releases/refused:1"
    new = ("new", "--version=1.0.1", "-t", tag)
    assert "the image would go nowhere" in olm(registry, *new, components).stderr
    refused = olm(registry, *new, "--push", components)
    assert refused.returncode == 1
    assert "hint: give --image NAME=IMAGE@sha256:..." in refused.stderr
    assert "has no manifests" in olm(registry, *new, "--push", tmp_path / "components/..").stderr


async def test_a_release_is_verified_by_keys_and_by_another_release(
    registry: Registry, components: Path, tmp_path: Path, signer: Signer
) -> None:
    image = made(registry, components)
    digest = image.partition("@")[2]
    store = tmp_path / "store" / digest.replace(":", "=")
    store.mkdir(parents=True)
    (tmp_path / "key").write_bytes(signer.certificate())
    by_key = ("verify", image, "--key", tmp_path / "key", "--store", (tmp_path / "store").as_uri())
    unsigned = olm(registry, *by_key)
    assert unsigned.returncode == 1
    assert f"unable to verify {digest} against keyrings: {tmp_path / 'key'}\n" in unsigned.stderr
    signed = signer.message(statement(critical__image={"docker-manifest-digest": digest}))
    (store / "signature-1").write_bytes(signed)
    assert done(registry, *by_key) == f"{image} is signed: {tmp_path / 'key'}\n"
    by_release = olm(registry, "verify", image, "--by", image)
    assert "against keyrings: verifier-public-key-test" in by_release.stderr
    assert "give --key and --store together" in olm(registry, "verify", image, "--store=x").stderr


async def test_a_release_is_verified_as_the_cluster_does(
    registry: Registry,
    components: Path,
    served: ControlPlane,
    keys: KubeObject,
    signer: Signer,
) -> None:
    image = made(registry, components)
    digest = image.partition("@")[2]
    cluster = ("verify", image, f"--kubeconfig={served.kubeconfig}")
    assert "verification is not possible" in olm(registry, *cluster).stderr
    message = signer.message(statement(critical__image={"docker-manifest-digest": digest}))
    signatures = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "signed", "namespace": NAMESPACE, "labels": {LABEL: ""}},
        "binaryData": {f"{digest.replace(':', '-')}-1": base64.b64encode(message).decode()},
    }
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    for obj in (namespace, keys):
        served.apply(json.dumps(obj))
    try:
        assert "unable to verify" in olm(registry, *cluster).stderr
        served.apply(json.dumps(signatures))
        assert done(registry, *cluster) == f"{image} is signed: verifier-public-key-test\n"
    finally:
        served.kubectl("delete", "configmap", "--all", f"--namespace={NAMESPACE}")
