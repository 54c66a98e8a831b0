"""`opm mirror`: a catalog and all its images arrive, once, and a client finds them there."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from e2e.harness.images import build_image
from e2e.harness.registry import PasswordAuth, Registry
from olm_runtime.errors import OLMError
from opm.__main__ import cli

pytestmark = pytest.mark.integration

Opm = Callable[..., Result]
BASE = b"shared" * 50_000


@pytest.fixture
def mirror(tmp_path: Path) -> Iterator[Registry]:
    with Registry(tmp_path / "mirror", auth=PasswordAuth()) as running:
        yield running


@pytest.fixture
def opm(
    tmp_path: Path, registry: Registry, mirror: Registry, monkeypatch: pytest.MonkeyPatch
) -> Opm:
    """As a user who trusts both registries and is logged in at the mirror."""
    authorities = [r.ca_file.read_bytes() for r in (registry, mirror) if r.ca_file]
    (tmp_path / "ca.pem").write_bytes(b"".join(authorities))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("REGISTRY_AUTH_FILE", str(tmp_path / "auth.json"))
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, stdin: str = "") -> Result:
        return CliRunner().invoke(cli, arguments, input=stdin)

    login = run("login", mirror.address, "-u", "user", "--password-stdin", stdin="password\n")
    assert login.exit_code == 0, login.output
    return run


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
        (("-p", ":x"), '":x" names no package', "write PACKAGE or PACKAGE:CHANNEL,CHANNEL"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    opm: Opm, catalog: str, mirror: Registry, arguments: tuple[str, ...], message: str, hint: str
) -> None:
    refused = opm("mirror", catalog, mirror.address, *arguments)
    assert isinstance(refused.exception, OLMError)
    assert (refused.exception.message, refused.exception.hint) == (message, hint)
    assert sent_blobs(mirror) == []
