"""Mirrors, renamed, insecure and blocked registries, with real registries."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.harness.images import build_image
from e2e.harness.registry import Registry
from olm_runtime.images.registries_conf import RegistriesConfError, RegistryBlockedError
from olm_runtime.registry.errors import ImageNotFoundError, UnreachableError, UntrustedError
from olm_runtime.registry.image_store import ImageStore
from olm_runtime.registry.settings import PullSettings

pytestmark = pytest.mark.integration

FILES = {"a": b"b"}


class World:
    """One registry with TLS, one without, and a registries.conf."""

    def __init__(self, folder: Path, secure: Registry, plain: Registry) -> None:
        self.conf = folder / "registries.conf"
        self.secure = secure
        self.plain = plain
        cas = secure.ca_file.parent if secure.ca_file else None
        self.settings = PullSettings(cas_dir=cas, registries_conf=self.conf)
        self.images = ImageStore(folder / "i", lambda: self.settings, jitter=lambda: 0.0)

    def mirror(self, location: str, *lines: str, of: str = "quay.test") -> None:
        text = [f'[[registry]]\nlocation = "{of}"\n[[registry.mirror]]\nlocation = "{location}"']
        self.conf.write_text("\n".join([*text, *lines]))

    async def pull(self, reference: str) -> str:
        pulled = await self.images.pull(reference, owner="o")
        assert await pulled.read() == FILES
        return str(pulled.ref)


@pytest.fixture
def world(tmp_path: Path, registry: Registry) -> Iterator[World]:
    with Registry(tmp_path / "plain", tls=False) as plain:
        yield World(tmp_path, registry, plain)


async def test_a_mirror_answers_for_a_registry_that_does_not_exist(world: World) -> None:
    published = world.secure.push(build_image([FILES]), "copies/org/cat", tag="v1")
    world.mirror(f"{world.secure.address}/copies")
    assert await world.pull("quay.test/org/cat:v1") == f"quay.test/org/cat@{published.digest}"


async def test_the_registry_itself_is_asked_when_no_mirror_has_it(world: World) -> None:
    published = world.secure.push(build_image([FILES]), "org/own", tag="v1")
    world.mirror(world.plain.address, "insecure = true", of=world.secure.address)
    assert await world.pull(published.tag_reference) == published.reference


async def test_when_nobody_has_it_every_mirror_is_named(world: World) -> None:
    world.mirror(f"{world.secure.address}/none", of=world.secure.address)
    with pytest.raises(ImageNotFoundError, match="mirrors failed too") as caught:
        await world.pull(f"{world.secure.address}/org/absent:v1")
    assert f"{world.secure.address}/none/org/absent:v1" in caught.value.message


async def test_a_mirror_for_digests_is_not_asked_for_tags(world: World) -> None:
    published = world.secure.push(build_image([FILES]), "org/pinned", tag="v1")
    world.plain.push(build_image([FILES]), "org/pinned", tag="v1")
    lines = ("insecure = true", 'pull-from-mirror = "digest-only"')
    world.mirror(world.plain.address, *lines, of=world.secure.address)
    await world.pull(published.tag_reference)
    asked = [r.target for r in world.plain.requests() if r.method == "GET"]
    assert f"/v2/org/pinned/manifests/{published.digest}" in asked
    assert "/v2/org/pinned/manifests/v1" not in asked


async def test_a_mirror_for_tags_is_asked_for_what_a_tag_names_and_for_no_digest(
    world: World,
) -> None:
    published = world.plain.push(build_image([FILES]), "org/tagged", tag="v1")
    lines = ("insecure = true", 'pull-from-mirror = "tag-only"')
    world.mirror(world.plain.address, *lines)
    with pytest.raises(UnreachableError, match=r"quay\.test"):
        await world.pull(f"quay.test/org/tagged@{published.digest}")
    assert not [r for r in world.plain.requests() if r.method == "GET" and "org" in r.target]
    assert await world.pull("quay.test/org/tagged:v1") == f"quay.test/org/tagged@{published.digest}"


async def test_mirrors_of_a_blocked_registry_are_asked(world: World) -> None:
    published = world.secure.push(build_image([FILES]), "copies/org/cat", tag="v1")
    place = world.secure.address
    world.conf.write_text(
        f'[[registry]]\nlocation="{place}"\nblocked=true\n'
        f'[[registry]]\nlocation="quay.test"\nblocked=true\n'
        f'[[registry.mirror]]\nlocation="{place}/copies"\n'
    )
    with pytest.raises(RegistryBlockedError, match=f"{place} is blocked in registries.conf"):
        await world.pull("quay.test/org/cat:v1")
    world.conf.write_text(world.conf.read_text().partition("blocked=true")[2])
    assert await world.pull("quay.test/org/cat:v1") == f"quay.test/org/cat@{published.digest}"


async def test_a_prefix_is_rewritten_to_its_location(world: World) -> None:
    published = world.secure.push(build_image([FILES]), "moved/here/cat", tag="v1")
    world.conf.write_text(
        f'[[registry]]\nprefix="quay.test/org"\nlocation="{world.secure.address}/moved/here"\n'
    )
    assert await world.pull("quay.test/org/cat:v1") == f"quay.test/org/cat@{published.digest}"


async def test_a_folder_of_files_counts_and_later_ones_win(world: World) -> None:
    published = world.secure.push(build_image([FILES]), "org/folder", tag="v1")
    folder = world.conf.with_name(f"{world.conf.name}.d")
    folder.mkdir()
    rule = f'[[registry]]\nlocation="{world.secure.address}"\nblocked=%s\n'
    (folder / "10-block.conf").write_text(rule % "true")
    with pytest.raises(RegistryBlockedError):
        await world.pull(published.tag_reference)
    (folder / "20-open.conf").write_text(rule % "false")
    assert await world.pull(published.tag_reference) == published.reference


async def test_a_mirror_with_other_content_is_passed_over(world: World) -> None:
    """By digest a mirror can only give the image itself."""
    published = world.secure.push(build_image([FILES]), "org/true", tag="v1")
    world.plain.push(build_image([{"other": b"image"}]), "org/true", tag="v1")
    world.mirror(world.plain.address, "insecure = true", of=world.secure.address)
    assert await world.pull(published.reference) == published.reference


async def test_insecure_allows_an_unknown_certificate_and_plain_http(world: World) -> None:
    world.settings = PullSettings(registries_conf=world.conf)
    for registry in (world.secure, world.plain):
        published = registry.push(build_image([FILES]), "org/insecure", tag="v1")
        world.conf.write_text(f'[[registry]]\nlocation="{registry.address}"\ninsecure=true\n')
        assert await world.pull(published.tag_reference) == published.reference
    world.conf.write_text("")
    with pytest.raises(UntrustedError):
        await world.pull(f"{world.secure.address}/org/insecure:v1")


async def test_a_change_of_the_file_counts_at_the_next_pull(world: World) -> None:
    published = world.secure.push(build_image([FILES]), "org/changes", tag="v1")
    await world.pull(published.tag_reference)
    world.conf.write_text(f'[[registry]]\nlocation="{world.secure.address}"\nblocked=true\n')
    with pytest.raises(RegistryBlockedError, match="is blocked in registries"):
        await world.pull(published.tag_reference)
    world.conf.write_text("[[registry")
    with pytest.raises(RegistriesConfError, match=r"registries.conf cannot be read"):
        await world.pull(published.tag_reference)
