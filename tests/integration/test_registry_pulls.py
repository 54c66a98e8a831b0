"""Pulls from a real registry: what images look like, who may read them, and what can go wrong."""

import base64
import io
import json
import socket
import tarfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from e2e.harness.images import Compression, Family, Platform, build_image, build_index
from e2e.harness.push import Credentials
from e2e.harness.registry import PasswordAuth, Registry, TokenAuth
from olm_runtime.errors import OLMError, TerminalError
from olm_runtime.images.layers import LayerError
from olm_runtime.images.limits import Limits
from olm_runtime.images.oci import ImageContentError
from olm_runtime.registry.errors import (
    ImageNotFoundError,
    UnauthorizedError,
    UnreachableError,
    UntrustedError,
)
from olm_runtime.registry.http import RegistryHttp
from olm_runtime.registry.image_store import ImageStore
from olm_runtime.registry.settings import PullSettings, this_platform
from tests.cycles import never_looked_for

pytestmark = pytest.mark.integration

HERE = Platform("linux", this_platform().architecture)
FILES = {"manifests/csv.yaml": b"kind: CSV\n", "metadata/annotations.yaml": b"a: b\n"}


def store(base: Path, registry: Registry, **settings: object) -> ImageStore:
    cas = registry.ca_file.parent if registry.ca_file else None
    values = PullSettings(**{"cas_dir": cas, **settings})  # type: ignore[arg-type]
    return ImageStore(base, lambda: values, jitter=lambda: 0.0)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("family", Family)
@pytest.mark.parametrize("compression", Compression)
async def test_every_media_type_and_compression_is_read(
    registry: Registry, tmp_path: Path, family: Family, compression: Compression
) -> None:
    image = build_image([FILES], labels={"k": "v"}, family=family, compression=compression)
    repository = f"kinds/{family.name.lower()}-{compression.value}"
    published = registry.push(image, repository, tag="v1")

    pulled = await store(tmp_path, registry).pull(published.tag_reference, owner="o")

    assert str(pulled.ref) == published.reference
    assert pulled.labels == {"k": "v"}
    assert await pulled.read() == FILES


async def test_what_a_pull_took_is_gone_at_once(registry: Registry, tmp_path: Path) -> None:
    published = registry.push(build_image([FILES]), "gone", tag="v1")
    images = store(tmp_path, registry)
    with never_looked_for() as more_of:
        await images.pull(published.tag_reference, owner="o")
        assert more_of(RegistryHttp, httpx.Response, httpx.AsyncClient) == []


@pytest.mark.parametrize("family", Family)
async def test_an_index_gives_the_image_of_this_platform_and_its_own_digest(
    registry: Registry, tmp_path: Path, family: Family
) -> None:
    images = [
        build_image([{"arch": name.encode()}], family=family, platform=Platform("linux", name))
        for name in ("s390x", HERE.architecture)
    ]
    index = build_index(images, family=family)
    published = registry.push(index, f"index/{family.name.lower()}", tag="v1")

    pulled = await store(tmp_path, registry).pull(published.tag_reference, owner="o")

    assert str(pulled.ref) == published.reference
    assert await pulled.read() == {"arch": HERE.architecture.encode()}


async def test_an_index_without_this_platform_says_what_it_has(
    registry: Registry, tmp_path: Path
) -> None:
    index = build_index([build_image([FILES], platform=Platform("linux", "s390x"))])
    published = registry.push(index, "index/foreign", tag="v1")
    with pytest.raises(ImageContentError, match="it has linux/s390x"):
        await store(tmp_path, registry).pull(published.tag_reference, owner="o")


async def test_layers_are_applied_in_order_with_whiteouts(
    registry: Registry, tmp_path: Path
) -> None:
    layers = [
        {"a/old": b"1", "a/kept": b"1", "b/x": b"1", "b/deep/y": b"1", "c": b"file"},
        {"a/.wh.old": b"", "b/new": b"2", "b/.wh..wh..opq": b"", "c/now": b"folder"},
    ]
    published = registry.push(build_image(layers), "layers/whiteouts", tag="v1")
    pulled = await store(tmp_path, registry).pull(published.tag_reference, owner="o")
    assert await pulled.read() == {"a/kept": b"1", "b/new": b"2", "c/now": b"folder"}


async def test_a_known_digest_costs_no_request_and_a_known_tag_one_without_a_body(
    registry: Registry, tmp_path: Path
) -> None:
    published = registry.push(build_image([FILES]), "cache/hit", tag="v1")
    images = store(tmp_path, registry)
    await images.pull(published.tag_reference, owner="o")
    before = len(registry.requests())

    await images.pull(published.reference, owner="o")
    assert len(registry.requests()) == before
    await images.pull(published.tag_reference, owner="o")
    assert [request.method for request in registry.requests()[before:]] == ["HEAD"]


async def test_a_new_digest_replaces_the_old_one_of_the_same_owner_only(
    registry: Registry, tmp_path: Path
) -> None:
    images = store(tmp_path, registry)
    first = registry.push(build_image([{"v": b"1"}]), "cache/moves", tag="v1")
    await images.pull(first.tag_reference, owner="one")
    await images.pull(first.tag_reference, owner="two")
    second = registry.push(build_image([{"v": b"2"}]), "cache/moves", tag="v1")

    pulled = await images.pull(first.tag_reference, owner="one")

    assert await pulled.read() == {"v": b"2"}
    assert names_in(tmp_path / "one") == [second.digest]
    assert names_in(tmp_path / "two") == [first.digest]
    images.collect({"two"})
    assert names_in(tmp_path) == ["two"]


@pytest.mark.parametrize("what", ["missing-tag", "missing-repository"])
async def test_a_wrong_image_is_named(registry: Registry, tmp_path: Path, what: str) -> None:
    registry.push(build_image([FILES]), "wrong/image", tag="v1")
    path = "wrong/image:v2" if what == "missing-tag" else "wrong/repository:v1"
    with pytest.raises(ImageNotFoundError) as caught:
        await store(tmp_path, registry).pull(f"{registry.address}/{path}", owner="o")
    assert f'image "{registry.address}/{path}" not found' in caught.value.message
    assert "check the repository and the tag" in caught.value.hint


@pytest.mark.parametrize("bulk", [False, True])
async def test_an_unreachable_registry_is_named(
    registry: Registry, tmp_path: Path, bulk: bool
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unused.getsockname()[1]}"
    with pytest.raises(UnreachableError, match=f"cannot reach registry {address}: connection ref"):
        await store(tmp_path, registry, bulk=bulk).pull(f"{address}/cat:v1", owner="o")


@pytest.mark.parametrize("bulk", [False, True])
async def test_an_unknown_ca_is_named_with_the_flag_that_helps(
    registry: Registry, tmp_path: Path, bulk: bool
) -> None:
    images = store(tmp_path, registry, cas_dir=None, bulk=bulk)
    with pytest.raises(UntrustedError) as caught:
        await images.pull(f"{registry.address}/c:v1", owner="o")
    assert "--pull-cas-dir" in caught.value.hint


async def test_a_short_name_is_refused_before_any_request(
    registry: Registry, tmp_path: Path
) -> None:
    with pytest.raises(TerminalError, match='error parsing image reference "cat:v1"'):
        await store(tmp_path, registry).pull("cat:v1", owner="o")


@pytest.fixture(params=["password", "token"])
def locked(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Registry]:
    secret = Credentials("robot", "s3cret")
    auth = PasswordAuth(secret) if request.param == "password" else TokenAuth(secret)
    with Registry(tmp_path / "registry", auth=auth) as running:
        yield running


@pytest.mark.parametrize("bulk", [False, True])
async def test_credentials_open_a_locked_registry(
    locked: Registry, tmp_path: Path, bulk: bool
) -> None:
    published = locked.push(build_image([FILES]), "locked/image", tag="v1")
    auth_file = tmp_path / "auth.json"
    auth_file.write_text(json.dumps(locked.docker_config()))
    images = store(tmp_path / "images", locked, auth_file=auth_file, bulk=bulk)
    pulled = await images.pull(published.tag_reference, owner="o")
    assert await pulled.read() == FILES


@pytest.mark.parametrize("password", [None, "wrong"])
async def test_without_the_right_credentials_the_cause_is_access(
    locked: Registry, tmp_path: Path, password: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.json").write_text(json.dumps(locked.docker_config()))
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))  # the file that is named replaces it
    published = locked.push(build_image([FILES]), "locked/image", tag="v1")
    pair = base64.b64encode(f"robot:{password}".encode()).decode()
    auth_file = tmp_path / "auth.json"
    auths = {locked.address: {"auth": pair}} if password else {}
    auth_file.write_text(json.dumps({"auths": auths}))
    images = store(tmp_path / "images", locked, auth_file=auth_file)
    with pytest.raises(UnauthorizedError) as caught:
        await images.pull(published.tag_reference, owner="o")
    assert f"registry {locked.address} refuses access" in caught.value.message
    assert "pull secret" in caught.value.hint
    assert pair not in caught.value.describe()


async def test_an_identity_token_opens_a_locked_registry(tmp_path: Path) -> None:
    with Registry(tmp_path / "registry", auth=TokenAuth()) as running:
        published = running.push(build_image([FILES]), "locked/image", tag="v1")
        assert running.token_service is not None
        auth_file = tmp_path / "auth.json"
        entry = {"auth": "MDAwMDo=", "identitytoken": running.token_service.identity_token}
        auth_file.write_text(json.dumps({"auths": {running.address: entry}}))
        images = store(tmp_path / "images", running, auth_file=auth_file)
        pulled = await images.pull(published.tag_reference, owner="o")
        assert await pulled.read() == FILES


async def test_a_credential_helper_opens_a_locked_registry_for_people(
    locked: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = locked.push(build_image([FILES]), "locked/image", tag="v1")
    helper = tmp_path / "docker-credential-test"
    helper.write_text('#!/bin/sh\necho \'{"Username":"robot","Secret":"s3cret"}\'\n')
    helper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    auth_file = tmp_path / "auth.json"
    auth_file.write_text(json.dumps({"credHelpers": {locked.address: "test"}}))
    cluster = store(tmp_path / "images", locked, auth_file=auth_file)
    with pytest.raises(UnauthorizedError):
        await cluster.pull(published.tag_reference, owner="o")
    people = store(tmp_path / "images", locked, auth_file=auth_file, run_helpers=True)
    pulled = await people.pull(published.tag_reference, owner="o")
    assert await pulled.read() == FILES


async def test_anonymous_tokens_are_fetched_without_credentials(tmp_path: Path) -> None:
    auth = TokenAuth(anonymous_pull=True)
    with Registry(tmp_path / "registry", auth=auth) as running:
        published = running.push(build_image([FILES]), "open/image", tag="v1")
        pulled = await store(tmp_path / "i", running).pull(published.tag_reference, owner="o")
        assert await pulled.read() == FILES


@pytest.mark.parametrize("bulk", [False, True])
async def test_plain_http_only_where_it_is_configured(tmp_path: Path, bulk: bool) -> None:
    with Registry(tmp_path / "registry", tls=False) as running:
        published = running.push(build_image([FILES]), "plain/image", tag="v1")
        images = store(tmp_path / "i", running, bulk=bulk)
        with pytest.raises(UnreachableError, match="does not speak TLS"):
            await images.pull(published.tag_reference, owner="o")
        plain = frozenset({running.address})
        images = store(tmp_path / "i", running, plain_http=plain, bulk=bulk)
        assert await (await images.pull(published.tag_reference, owner="o")).read() == FILES


async def test_a_corrupt_blob_is_noticed(tmp_path: Path) -> None:
    with Registry(tmp_path / "registry") as running:
        image = build_image([FILES])
        published = running.push(image, "corrupt/image", tag="v1")
        digest = image.blobs[1].digest.partition(":")[2]
        blob = tmp_path / f"registry/content/docker/registry/v2/blobs/sha256/{digest[:2]}/{digest}"
        data = bytearray((blob / "data").read_bytes())
        data[-1] ^= 0xFF
        (blob / "data").write_bytes(data)
        with pytest.raises(ImageContentError, match="is corrupt"):
            await store(tmp_path / "i", running).pull(published.tag_reference, owner="o")
        assert not list((tmp_path / "i").glob(".tmp-*"))


def hostile(member: tarfile.TarInfo) -> bytes:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as tar:
        tar.addfile(member, io.BytesIO(b"x" * member.size) if member.isreg() else None)
    return archive.getvalue()


@pytest.mark.parametrize(
    ("name", "kind", "target", "fault"),
    [
        ("../escape", tarfile.REGTYPE, "", "leads out of the unpacked folder"),
        ("/etc/passwd", tarfile.REGTYPE, "", "is absolute"),
        ("x", tarfile.LNKTYPE, "../../etc/passwd", "hard link out of"),
        ("x", tarfile.LNKTYPE, "missing", "not there"),
    ],
)
async def test_hostile_layers_are_refused_and_leave_nothing(
    registry: Registry, tmp_path: Path, name: str, kind: bytes, target: str, fault: str
) -> None:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    published = registry.push(build_image([hostile(member)]), "hostile/image", tag="v1")
    with pytest.raises(LayerError, match=fault) as caught:
        await store(tmp_path, registry).pull(published.tag_reference, owner="o")
    assert published.tag_reference in caught.value.message
    assert not files_below(tmp_path)


async def test_what_is_no_image_is_an_error_not_a_crash(registry: Registry, tmp_path: Path) -> None:
    published = registry.push(build_image([b"\x1f\x8b no gzip at all"]), "junk/image", tag="v1")
    with pytest.raises(OLMError, match="layer"):
        await store(tmp_path, registry).pull(published.tag_reference, owner="o")


async def test_a_ca_that_comes_later_is_trusted_without_a_restart(
    registry: Registry, tmp_path: Path
) -> None:
    published = registry.push(build_image([FILES]), "trust/later", tag="v1")
    cas = tmp_path / "cas"
    cas.mkdir()
    images = store(tmp_path / "i", registry, cas_dir=cas)
    with pytest.raises(UntrustedError):
        await images.pull(published.tag_reference, owner="o")
    assert registry.ca_file is not None
    (cas / "ours.crt").write_bytes(registry.ca_file.read_bytes())
    assert await (await images.pull(published.tag_reference, owner="o")).read() == FILES
    (cas / "ours.crt").write_text("no certificate")
    with pytest.raises(OLMError, match=r"ours\.crt") as caught:
        await images.pull(published.tag_reference, owner="o")
    assert "PEM" in caught.value.hint


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
async def test_roots_of_the_environment_count(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    published = registry.push(build_image([FILES]), "trust/environment", tag="v1")
    images = store(tmp_path / "i", registry, cas_dir=None)
    assert registry.ca_file is not None
    folder = tmp_path / "roots"
    folder.mkdir()
    (folder / "any name").write_bytes(registry.ca_file.read_bytes())
    (folder / "README").write_text("no certificate")
    value = registry.ca_file if variable == "SSL_CERT_FILE" else f"{tmp_path}/none:{folder}"
    monkeypatch.setenv(variable, str(value))
    assert await (await images.pull(published.tag_reference, owner="o")).read() == FILES


@pytest.mark.parametrize(
    ("limits", "fault"),
    [
        (Limits(manifest_bytes=100), "is larger than 100 bytes"),
        (Limits(config_bytes=9), "image configuration is larger than 9 bytes"),
        (Limits(layers=1), "more than 1 layers"),
        (Limits(compressed_bytes=50), "layers are larger than 50 bytes together"),
        (Limits(entries=2), "more than 2 entries"),
        (Limits(file_bytes=10), '"b" is larger than 10 bytes'),
        (Limits(total_bytes=15), "unpacks to more than 15 bytes"),
        (Limits(depth=2), "nested deeper than 2 folders"),
        (Limits(path_length=4), "longer than 4 characters"),
    ],
)
async def test_every_limit_holds_and_names_its_flag(
    registry: Registry, tmp_path: Path, limits: Limits, fault: str
) -> None:
    image = build_image([{"a/b/c": b"1234567"}, {"b": b"12345678901"}])
    published = registry.push(image, "limits/image", tag="v1")
    with pytest.raises(OLMError, match=fault) as caught:
        await store(tmp_path, registry, limits=limits).pull(published.tag_reference, owner="o")
    assert "--max-image-" in caught.value.hint
    assert not files_below(tmp_path)
