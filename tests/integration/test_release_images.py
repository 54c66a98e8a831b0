"""Release images from a real registry: verified, forced, refused, fetched once."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import pytest

from cluster_version.decisions.target import Target
from cluster_version.io.release_images import (
    NotRetrievedError,
    ReleaseImages,
    UnverifiedError,
    from_registry,
)
from cluster_version.signatures.errors import VerificationError
from cluster_version.signatures.search import check_digest
from e2e.harness.images import build_image
from e2e.harness.push import Published
from e2e.harness.registry import Registry
from olm_runtime.folders import remove_tree
from olm_runtime.images.limits import RELEASE_LIMITS
from olm_runtime.registry.image_store import ImageStore
from olm_runtime.registry.settings import PullSettings

pytestmark = [pytest.mark.integration, pytest.mark.asyncio]

BASE = {"usr/bin/operator": b"large", "manifests/0000_00_namespace.yaml": b"old"}
RELEASE = {
    "manifests/0000_00_namespace.yaml": b"a: b\n",
    "release-manifests/release-metadata": b"{}",
    "release-manifests/image-references": b"{}",
}


@pytest.fixture(scope="module")
def published(registry: Registry) -> Published:
    """A release image whose last layer has the release, on top of a program of some size."""
    program = {**BASE, "usr/lib/program": bytes(33 << 20)}
    image = build_image([program, RELEASE])
    return registry.push(image, "releases/product", tag="1.0.1")


@pytest.fixture
def store(registry: Registry, tmp_path: Path) -> ImageStore:
    """A store of images that trusts the registry."""
    assert registry.ca_file
    settings = PullSettings(cas_dir=registry.ca_file.parent, limits=RELEASE_LIMITS)
    return ImageStore(tmp_path / "images", lambda: settings, jitter=lambda: 0.0)


def images_of(store: ImageStore, verify: Callable[[str], Awaitable[None]]) -> ReleaseImages:
    return ReleaseImages(partial(from_registry, store), verify)


def content(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


async def nothing(_: str) -> None:
    """All are signed."""


async def unsigned(digest: str) -> None:
    check_digest(digest)
    raise VerificationError("unable to verify it", ["no key", "no store"])


async def test_only_the_release_of_an_image_is_kept_and_fetched_once(
    store: ImageStore, published: Published, registry: Registry
) -> None:
    images = images_of(store, nothing)
    folder, retrieved = await images.retrieve(Target("1.0.1", published.reference))
    assert content(folder) == RELEASE
    assert retrieved.verified
    asked = len(registry.requests())
    assert (await images.retrieve(Target("1.0.1", published.reference)))[0] == folder
    assert len(registry.requests()) == asked
    assert await from_registry(store, Target(image=published.tag_reference)) == folder
    remove_tree(folder.parents[1])


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        ("reference", "unable to verify it"),
        (
            "tag_reference",
            "release images that are not accessed via digest cannot be verified",
        ),
    ],
)
async def test_an_image_that_is_not_verified_is_refused_unless_it_is_forced(
    store: ImageStore, published: Published, named: str, problem: str
) -> None:
    images, image = images_of(store, unsigned), getattr(published, named)
    with pytest.raises(UnverifiedError) as caught:
        await images.retrieve(Target("1.0.1", image))
    assert caught.value.message == f"The update cannot be verified: {problem}"
    assert caught.value.reason == "ImageVerificationFailed"
    causes = "[no key, no store]" if named == "reference" else ""
    assert str(caught.value.__cause__ or "") == causes
    folder, retrieved = await images.retrieve(Target("1.0.1", image, force=True))
    assert content(folder) == RELEASE
    assert not retrieved.verified
    anyway = "cannot be verified, but continuing anyway because the update was forced"
    unfolded = f"{problem}\n{causes}" if causes else problem
    assert retrieved.risk == f'Target release version="1.0.1" image="{image}" {anyway}: {unfolded}'
    remove_tree(folder.parents[1])


async def test_an_image_that_is_not_there_is_reported(
    store: ImageStore, registry: Registry
) -> None:
    missing = f"{registry.address}/releases/none@sha256:{'0' * 64}"
    with pytest.raises(NotRetrievedError) as caught:
        await from_registry(store, Target(image=missing))
    assert caught.value.message.startswith("Unable to download and prepare the update: ")
    assert missing in caught.value.message


async def test_a_search_for_signatures_that_does_not_end_is_given_up(
    store: ImageStore, published: Published, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def forever(_: str) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr("cluster_version.io.release_images.VERIFY_SECONDS", 0.01)
    with pytest.raises(UnverifiedError, match="within"):
        await images_of(store, forever).retrieve(Target("1.0.1", published.reference))
