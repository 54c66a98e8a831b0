"""`opm mirror`: a catalog and all its images arrive, once, and a client finds them there."""

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result

from e2e.harness.images import Blob, Family, ImageIndex, Platform, build_image, build_index
from e2e.harness.push import Published
from e2e.harness.referrers import ReferrersRegistry
from e2e.harness.registry import PasswordAuth, Registry, TokenAuth
from olm_runtime.errors import OLMError
from tests.integration.conftest import Opm

pytestmark = pytest.mark.integration

BASE = b"shared" * 50_000


@pytest.fixture
def images(registry: Registry, tmp_path: Path) -> dict[str, str]:
    """Three bundles and what they name, by digest, with a layer that all of them share."""
    home = tmp_path.name.replace("_", "-").lower()
    return {
        name: registry.push(
            build_image([{"base": BASE}, {"own": name.encode()}]), f"{home}/{name}", tag="v1"
        ).reference
        for name in ("shop-v1", "shop-v2", "shop-operand", "till-v1")
    }


@pytest.fixture
def catalog(opm: Opm, registry: Registry, images: dict[str, str], tmp_path: Path) -> str:
    """An image of two packages; one has two channels."""

    def bundle(package: str, version: str, **more: Any) -> dict[str, Any]:
        value = {"packageName": package, "version": version}
        return {
            "schema": "olm.bundle",
            "package": package,
            "name": f"{package}.v{version}",
            "image": images[f"{package}-v{version[0]}"],
            "properties": [{"type": "olm.package", "value": value}],
            **more,
        }

    operand = {"relatedImages": [{"name": "operand", "image": images["shop-operand"]}]}
    blobs: list[dict[str, Any]] = [
        {"schema": "olm.package", "name": "shop", "defaultChannel": "stable"},
        channel("shop", "stable", "shop.v1.0.0"),
        channel("shop", "fast", "shop.v2.0.0"),
        bundle("shop", "1.0.0"),
        bundle("shop", "2.0.0", **operand),
        {"schema": "olm.package", "name": "till", "defaultChannel": "stable"},
        channel("till", "stable", "till.v1.0.0"),
        bundle("till", "1.0.0"),
    ]
    folder = tmp_path / "catalog"
    folder.mkdir()
    (folder / "index.json").write_text("\n".join(map(json.dumps, blobs)))
    reference = f"{registry.address}/mirrored/catalog:v1"
    built = opm("build", "catalog", "-t", reference, "--push")
    assert built.exit_code == 0, built.output
    return reference


def channel(package: str, name: str, bundle: str) -> dict[str, Any]:
    entries = [{"name": bundle}]
    return {"schema": "olm.channel", "package": package, "name": name, "entries": entries}


def sent_blobs(registry: Registry) -> list[str]:
    requests = registry.requests()
    return [r.target for r in requests if r.method == "PUT" and "/blobs/" in r.target]


def succeeded(result: Result) -> str:
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize(
    "mirror", [PasswordAuth(), TokenAuth()], indirect=True, ids=["password", "token"]
)
def test_a_whole_catalog_arrives_and_a_second_run_sends_nothing(
    opm: Opm, catalog: str, images: dict[str, str], mirror: Registry, registry: Registry
) -> None:
    target = f"{mirror.address}/olm"
    assert "4 images copied, 0 there before" in succeeded(opm("mirror", catalog, target))
    for reference in images.values():
        path = reference.removeprefix(f"{registry.address}/")
        assert opm("copy", f"{target}/{path}", "oci:check:x").exit_code == 0
    there = succeeded(opm("render", f"{target}/mirrored/catalog:v1"))
    assert there == succeeded(opm("render", catalog))
    blobs = sent_blobs(mirror)
    assert len(blobs) == len({b.partition("digest=")[2] for b in blobs}), "no blob was sent twice"
    assert "0 images copied, 4 there before" in succeeded(opm("mirror", catalog, target))
    assert sent_blobs(mirror) == blobs, "the second run sends nothing"


def test_what_is_killed_goes_on_where_it_was(
    opm: Opm, registry: Registry, mirror: Registry, tmp_path: Path
) -> None:
    names = [f"killed/big-{number}" for number in range(6)]
    related = [
        registry.push(build_image([{"own": random.randbytes(8 << 20)}]), name, tag="v1").reference
        for name in names
    ]
    write_catalog(tmp_path / "catalog", related[0], related[1:])
    program = str(Path(sys.executable).with_name("opm"))
    arguments = ["mirror", "catalog", mirror.address, "--name", "a/b:c", "--parallel", "1"]
    running = subprocess.Popen([program, *arguments])
    while not sent_blobs(mirror) and running.poll() is None:
        time.sleep(0.01)
    running.kill()
    assert running.wait() < 0, "it was not done yet"
    succeeded(opm(*arguments))
    of_images = [target for target in sent_blobs(mirror) if target.startswith("/v2/killed/")]
    digests = [target.partition("digest=")[2] for target in of_images]
    assert len(set(digests)) == 2 * len(names)
    assert len(digests) <= len(set(digests)) + 1, "what was being sent may be sent again"


@pytest.mark.parametrize("parts", [["own"], ["amd64", "arm64"]], ids=["image", "list"])
def test_a_disk_that_is_full_fails_what_does_not_fit(
    opm: Opm, registry: Registry, tmp_path: Path, parts: list[str]
) -> None:
    images = [
        build_image([{"own": random.randbytes(1 << 20)}], platform=Platform(architecture=part))
        for part in parts
    ]
    large = registry.push(build_index(images), "full/large", tag="v1").reference
    small = registry.push(build_image([{"own": b"small"}]), "full/small", tag="v1").reference
    write_catalog(tmp_path / "catalog", small, [large])
    program = Path(sys.executable).with_name("opm")
    command = f"ulimit -f 200; exec '{program}' mirror catalog oci:media --name a/b:c"
    full = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert full.returncode == 1
    assert "1 of 2 images could not be copied" in full.stderr
    assert "File too large" in full.stderr
    assert not list(Path("media").rglob("*.part")), "what does not fit takes no room"
    arguments = ("mirror", "catalog", "oci:media", "--name", "a/b:c")
    assert "1 image copied, 1 there before" in succeeded(opm(*arguments))


def write_catalog(folder: Path, bundle: str, related: Sequence[str]) -> None:
    """A catalog of one package, whose bundle names images."""
    images = [{"name": f"image-{number}", "image": each} for number, each in enumerate(related)]
    value = {"packageName": "one", "version": "1.0.0"}
    blobs: list[dict[str, Any]] = [
        {"schema": "olm.package", "name": "one", "defaultChannel": "stable"},
        channel("one", "stable", "one.v1.0.0"),
        {
            "schema": "olm.bundle",
            "package": "one",
            "name": "one.v1.0.0",
            "image": bundle,
            "properties": [{"type": "olm.package", "value": value}],
            "relatedImages": images,
        },
    ]
    folder.mkdir()
    (folder / "index.json").write_text("\n".join(map(json.dumps, blobs)))


def test_chosen_channels_have_their_bundles_and_related_images_alone(
    opm: Opm, catalog: str, images: dict[str, str], mirror: Registry
) -> None:
    arguments = ("mirror", catalog, mirror.address, "-p", "shop:fast", "-o", "json")
    done = json.loads(succeeded(opm(*arguments)))
    wanted = {images["shop-v2"], images["shop-operand"]}
    assert set(done["copied"]) == wanted
    there = [
        json.loads(line)
        for line in succeeded(opm("render", f"{mirror.address}/mirrored/catalog:v1"))
        .replace("\n}\n{", "\n}\x00{")
        .split("\x00")
    ]
    names = [(each["schema"], each["name"]) for each in there]
    assert names == [
        ("olm.package", "shop"),
        ("olm.channel", "fast"),
        ("olm.bundle", "shop.v2.0.0"),
    ]
    assert there[0]["defaultChannel"] == "fast"


def test_by_way_of_a_folder(
    opm: Opm, catalog: str, images: dict[str, str], mirror: Registry, registry: Registry
) -> None:
    assert "3 images copied" in succeeded(opm("mirror", catalog, "oci:media", "-p", "shop"))
    assert "0 images copied" in succeeded(opm("mirror", catalog, "oci:media", "-p", "shop"))
    asked = len(registry.requests())
    target = f"{mirror.address}/olm"
    done = json.loads(succeeded(opm("mirror", "oci:media", target, "-o", "json")))
    assert len(registry.requests()) == asked, "the source is not asked"
    assert done["failures"] == {}
    there = succeeded(opm("render", f"{target}/mirrored/catalog:v1"))
    assert "shop.v1.0.0" in there
    assert "till" not in there


def test_signatures_go_along_unless_they_are_not_wanted(
    opm: Opm, catalog: str, images: dict[str, str], mirror: Registry, registry: Registry
) -> None:
    path, _, digest = images["shop-v1"].removeprefix(f"{registry.address}/").partition("@")
    stem = digest.replace(":", "-")
    signature = build_image([{"signature": b"of a bundle"}])
    tags = (f"{stem}.sig", stem)
    pushed = {registry.push(signature, path, tag=tag).reference for tag in tags}
    assert len(pushed) == 1
    target = f"{mirror.address}/olm"
    without = succeeded(opm("mirror", catalog, target, "--no-signatures"))
    assert "signature" not in without
    assert opm("copy", f"{target}/{path}:{stem}.sig", "oci:check:x").exit_code != 0
    assert "2 signatures or other referrers copied along" in succeeded(
        opm("mirror", catalog, "oci:media")
    )
    done = json.loads(succeeded(opm("mirror", "oci:media", target, "-o", "json")))
    [content] = {reference.partition("@")[2] for reference in pushed}
    assert done["signatures"] == {f"{registry.address}/{path}:{tag}": content for tag in tags}
    for tag in tags:
        assert opm("copy", f"{target}/{path}:{tag}", "oci:check:x").exit_code == 0


@pytest.fixture(scope="module")
def referrers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReferrersRegistry]:
    """A registry that lists what refers to an image.

    Made before `opm` sets another HOME, in which it would be built anew.
    """
    with ReferrersRegistry(tmp_path_factory.mktemp("referrers")) as running:
        yield running


@pytest.fixture
def listing(opm: Opm, referrers: ReferrersRegistry, tmp_path: Path) -> ReferrersRegistry:
    """The same; `opm` trusts it, too."""
    with (tmp_path / "ca.pem").open("ab") as trusted:
        trusted.write(referrers.ca_file.read_bytes())
    return referrers


def test_what_refers_to_images_goes_along_from_where_it_is_listed_to_where_it_is_not_and_back(
    opm: Opm, mirror: Registry, listing: ReferrersRegistry, tmp_path: Path
) -> None:
    with listing.client() as client:
        image = client.push(build_image([{"own": b"signed"}]), "team/signed", tag="v1")
        attached = {client.attach(image, kind, kind.encode()) for kind in ("signature", "sbom")}
    write_catalog(tmp_path / "catalog", image.reference, [])
    name = f"{listing.address}/team/catalog:v1"
    succeeded(opm("build", "catalog", "-t", name, "--push"))
    target = f"{mirror.address}/olm"
    assert "1 signature or other referrer copied" in succeeded(opm("mirror", name, target))
    tag = image.digest.replace(":", "-")
    with mirror.client() as client:
        found = json.loads(client.manifest("olm/team/signed", tag).content)
        assert {each["digest"] for each in found["manifests"]} == attached
        for digest in attached:
            manifest = json.loads(client.manifest("olm/team/signed", digest).content)
            assert client.blob("olm/team/signed", manifest["layers"][0]["digest"])
        own = client.attach(Published(f"{target}/team/signed", image.digest), "own", b"own")
        found["manifests"].append(client.manifest("olm/team/signed", own).descriptor())
        client.push(
            ImageIndex(Blob(Family.OCI.value.index, json.dumps(found).encode()), ()),
            "olm/team/signed",
            tag=tag,
        )
    sent = sent_blobs(mirror)
    succeeded(opm("mirror", name, target))
    assert sent_blobs(mirror) == sent, "the second run sends nothing"
    with mirror.client() as client:
        remaining = json.loads(client.manifest("olm/team/signed", tag).content)["manifests"]
    assert {each["digest"] for each in remaining} == {*attached, own}, "what the mirror has stays"
    succeeded(opm("mirror", name, "oci:media"))
    back = f"{listing.address}/back"
    succeeded(opm("mirror", "oci:media", back))
    with listing.client() as client:
        assert client.referrers("back/team/signed", image.digest) == attached


def test_what_refers_to_a_platform_of_an_image_and_to_what_refers_goes_along(
    opm: Opm, mirror: Registry, listing: ReferrersRegistry, tmp_path: Path
) -> None:
    parts = [
        build_image([{"own": name.encode()}], platform=Platform(architecture=name))
        for name in ("amd64", "arm64")
    ]
    with listing.client() as client:
        image = client.push(build_index(parts), "team/platforms", tag="v1")
        platform = Published(image.repository, parts[1].manifest.digest)
        sbom = client.attach(platform, "sbom", b"of arm64")
        signed = client.attach(Published(image.repository, sbom), "signature", b"of that")
    write_catalog(tmp_path / "catalog", image.reference, [])
    name = f"{listing.address}/team/catalog:v1"
    succeeded(opm("build", "catalog", "-t", name, "--push"))
    target = f"{mirror.address}/olm"
    for what in (target, "oci:media", target):
        assert "2 signatures or other referrers copied" in succeeded(opm("mirror", name, what))
    back = f"{mirror.address}/back"
    assert "2 signatures or other referrers copied" in succeeded(opm("mirror", "oci:media", back))
    for path in ("olm", "back"):
        with mirror.client() as client:
            for subject, listed in ((platform.digest, sbom), (sbom, signed)):
                tag = subject.replace(":", "-")
                found = json.loads(client.manifest(f"{path}/team/platforms", tag).content)
                assert [each["digest"] for each in found["manifests"]] == [listed]


def test_what_signs_the_catalog_itself_goes_along(
    opm: Opm, catalog: str, mirror: Registry, listing: ReferrersRegistry, registry: Registry
) -> None:
    source = f"{listing.address}/team/catalog:v1"
    succeeded(opm("copy", catalog, source))
    with listing.client() as client:
        digest = client.manifest("team/catalog", "v1").digest
        signed = Published(f"{listing.address}/team/catalog", digest)
        attached = client.attach(signed, "signature", b"of a catalog")
    succeeded(opm("mirror", source, mirror.address))
    with mirror.client() as client:
        found = json.loads(client.manifest("team/catalog", digest.replace(":", "-")).content)
    assert [each["digest"] for each in found["manifests"]] == [attached]


def test_what_the_folder_lost_is_an_error_of_its_image(
    opm: Opm, catalog: str, mirror: Registry
) -> None:
    succeeded(opm("mirror", catalog, "oci:media", "-p", "till"))
    for blob in Path("media/blobs/sha256").iterdir():
        blob.unlink()
    failed = opm("mirror", "oci:media", mirror.address)
    assert isinstance(failed.exception, OLMError)
    assert "1 of 1 images could not be copied" in failed.exception.message
    assert "No such file or directory" in failed.exception.message


def test_a_registry_that_fails_keeps_no_other_image_back_and_the_rest_follows(
    opm: Opm, catalog: str, images: dict[str, str], mirror: Registry, tmp_path: Path
) -> None:
    text = (tmp_path / "catalog" / "index.json").read_text()
    gone = images["till-v1"].partition("@")[0] + "@sha256:" + "0" * 64
    (tmp_path / "catalog" / "index.json").write_text(text.replace(images["till-v1"], gone))
    target = f"{mirror.address}/olm"
    arguments = ("mirror", "catalog", target, "--name", "team/catalog:v2")
    failed = opm(*arguments)
    assert failed.exit_code == 1
    assert "3 images copied, 0 there before" in failed.output
    assert opm("render", f"{target}/team/catalog:v2").exit_code != 0, "its images are not all there"
    (tmp_path / "catalog" / "index.json").write_text(text)
    assert "1 image copied, 3 there before" in succeeded(opm(*arguments))
    assert "till.v1.0.0" in succeeded(opm("render", f"{target}/team/catalog:v2"))


def test_the_files_have_a_client_ask_the_mirror(
    opm: Opm,
    catalog: str,
    images: dict[str, str],
    mirror: Registry,
    registry: Registry,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    target = f"{mirror.address}/olm"
    output = succeeded(opm("mirror", catalog, target, "-p", "till"))
    assert "wrote mirror/registries.conf" in output
    sets = list(yaml.safe_load_all(Path("mirror/mirror-sets.yaml").read_text()))
    assert [each["kind"] for each in sets] == ["ImageDigestMirrorSet"]
    (entry,) = sets[0]["spec"]["imageDigestMirrors"]
    repository = images["till-v1"].partition("@")[0]
    path = repository.removeprefix(f"{registry.address}/")
    assert entry == {"source": repository, "mirrors": [f"{target}/{path}"]}
    (made,) = yaml.safe_load_all(Path("mirror/catalog.yaml").read_text())
    assert made["spec"]["source"]["image"]["ref"] == f"{target}/mirrored/catalog:v1"
    monkeypatch.setenv("CONTAINERS_REGISTRIES_CONF", "mirror/registries.conf")
    asked = len(registry.requests())
    assert opm("copy", images["till-v1"], "oci:check:till").exit_code == 0
    assert len(registry.requests()) == asked, "the mirror has been asked"


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (("-p", "shp"), 'the catalog has no package "shp"', "did you mean shop?"),
        (("-p", "shop:stabel"), 'package "shop" has no channel "stabel"', "did you mean stable?"),
        (
            ("-p", ":x"),
            '":x" names no package',
            "write PACKAGE, PACKAGE:CHANNEL,CHANNEL or PACKAGE@RANGE",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(
    opm: Opm, catalog: str, mirror: Registry, arguments: tuple[str, ...], message: str, hint: str
) -> None:
    refused = opm("mirror", catalog, mirror.address, *arguments)
    assert isinstance(refused.exception, OLMError)
    assert (refused.exception.message, refused.exception.hint) == (message, hint)
    assert sent_blobs(mirror) == []
