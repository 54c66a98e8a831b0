"""Catalogs and bundles from the mirrors of ImageDigestMirrorSet and its like."""

from pathlib import Path

import pytest

from e2e.harness.images import catalog_image
from e2e.olm.api import catalog_path, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.fbc import catalog_files, package_blobs
from e2e.olm.manifests import with_administrator
from e2e.olm.programs import Olm
from tests.integration.cluster_pulls.world import World

pytestmark = pytest.mark.integration

UNRESOLVED = "its name cannot be resolved"


def test_what_could_not_be_pulled_is_when_kinds_and_mirrors_come_later(world: World) -> None:
    world.withdraw_kinds()
    digest = world.publish().digest
    world.apply_catalog(f"{world.source}/{world.name}@{digest}")
    world.wait_retrying(UNRESOLVED)
    world.serve_kinds()
    world.mirrors("ImageDigestMirrorSet", world.mirror)
    world.wait_serving()


@pytest.mark.parametrize("kind", ["ImageDigestMirrorSet", "ImageContentSourcePolicy"])
def test_a_catalog_by_digest_comes_from_the_mirror(world: World, kind: str) -> None:
    world.serve_kinds()
    world.mirrors(kind, "nowhere.invalid", world.mirror)
    world.apply_catalog(f"{world.source}/{world.name}@{world.publish().digest}")
    world.wait_serving()


def test_a_catalog_by_tag_comes_whole_from_the_mirror_for_tags(world: World) -> None:
    world.serve_kinds()
    world.mirrors("ImageTagMirrorSet", world.mirror, source="*.invalid")
    published = world.publish()
    world.apply_catalog(f"{world.source}/{world.name}:v1")
    world.wait_serving()
    found = world.api.get(catalog_path(world.name))
    assert found is not None
    resolved = found["status"]["resolvedSource"]["image"]["ref"]
    assert resolved == f"{world.source}/{world.name}@{published.digest}"


def test_a_replica_that_only_follows_pulls_from_mirrors_for_tags_too(
    world: World, tmp_path: Path
) -> None:
    """It knows the digest from the status, and that the image is named by tag."""
    world.serve_kinds()
    world.mirrors("ImageTagMirrorSet", world.mirror)
    world.publish()
    world.apply_catalog(f"{world.source}/{world.name}:v1")
    world.wait_serving()
    world.hold_lease("catalogd-operator-lock")
    follower = Olm(tmp_path, world.olm.control_plane, world.registry)
    follower.install()
    try:
        follower.start_catalogd("--leader-elect")
        with follower.client() as client:
            answer = client.get(f"/catalogs/{world.name}/api/v1/all")
        assert answer.json() == {"schema": "olm.package", "name": "foo"}
    finally:
        follower.stop()


def test_a_source_that_must_not_be_contacted_is_not_until_the_object_is_gone(world: World) -> None:
    world.serve_kinds()
    published = world.publish()
    kind, place = "ImageDigestMirrorSet", published.repository
    world.mirrors(kind, "nowhere.invalid/x", source=place, policy="NeverContactSource")
    blocked = f'registry {place} is blocked by ImageDigestMirrorSet "{world.name}"'
    world.wait_refused(published.reference, blocked)
    world.wait_retrying("nowhere.invalid")
    world.remove(kind)
    world.wait_serving()


def test_an_extension_is_installed_from_the_mirror_of_its_bundle(world: World) -> None:
    world.serve_kinds()
    bundle = BundleSpec(package=world.name, version="1.0.0")
    pushed = world.registry.push(bundle.image(), f"copies/{world.name}/bundle", tag="v1")
    named = bundle.as_published(f"{world.source}/{world.name}/bundle@{pushed.digest}")
    image = catalog_image(catalog_files([package_blobs([named])]))
    reference = world.registry.push(image, f"catalogs/{world.name}", tag="v1").tag_reference
    world.apply_catalog(reference)
    world.apply(extension_path(world.name), with_administrator(world.name))
    path = extension_path(world.name)
    world.api.wait_condition(path, "Progressing", "True", message=UNRESOLVED)
    world.mirrors("ImageDigestMirrorSet", world.mirror)
    world.api.wait_installed(world.name, "1.0.0")
