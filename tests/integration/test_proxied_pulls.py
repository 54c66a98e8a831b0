"""Pulls through proxies: real registries behind names that only the proxy can resolve."""

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.harness.forward_proxy import ForwardProxy
from e2e.harness.images import build_image
from e2e.harness.pki import CertificateAuthority
from e2e.harness.registry import Registry
from olm_runtime.images.cluster_settings import ClusterSettings
from olm_runtime.proxies import Proxies
from olm_runtime.registry.errors import NoTlsError, UnreachableError, UntrustedError
from olm_runtime.registry.image_store import ImageStore
from olm_runtime.registry.settings import PullSettings

pytestmark = pytest.mark.integration

FILES = {"a": b"b"}
NAME = "registry.test"
USER = "me:secret"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture(params=[True, False], ids=["https", "http"])
def far(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Registry]:
    """A registry with and without TLS, known as NAME."""
    with Registry(tmp_path / "registry", tls=request.param, names=[NAME]) as running:
        yield running


def name_of(registry: Registry) -> str:
    return f"{NAME}:{registry.address.rpartition(':')[2]}"


def store(folder: Path, registry: Registry, cluster: ClusterSettings | None = None) -> ImageStore:
    plain = frozenset() if registry.ca_file else frozenset({name_of(registry)})
    cas = registry.ca_file.parent if registry.ca_file else None
    settings = PullSettings(
        cas_dir=cas,
        plain_http=plain,
        registries_conf=folder / "registries.conf",
        cluster=cluster or ClusterSettings(),
    )
    return ImageStore(folder / "i", lambda: settings, jitter=lambda: 0.0)


def variable(registry: Registry) -> str:
    return "HTTPS_PROXY" if registry.ca_file else "HTTP_PROXY"


async def test_the_proxy_of_the_scheme_is_asked(
    far: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = far.push(build_image([FILES]), "org/cat", tag="v1")
    async with ForwardProxy() as proxy:
        monkeypatch.setenv(variable(far), f"http://{proxy.address}")
        pulled = await store(tmp_path, far).pull(f"{name_of(far)}/org/cat:v1", owner="o")
    assert await pulled.read() == FILES
    assert str(pulled.ref) == f"{name_of(far)}/org/cat@{published.digest}"
    if far.ca_file:
        assert set(proxy.asked) == {f"CONNECT {name_of(far)}"}
    else:
        assert f"HEAD http://{name_of(far)}/v2/org/cat/manifests/v1" in proxy.asked


async def test_the_proxy_of_the_cluster_is_asked_unless_the_environment_names_one(
    far: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far.push(build_image([FILES]), "org/cat", tag="v1")
    async with ForwardProxy() as proxy, ForwardProxy() as given:
        cluster = f"http://{proxy.address}"
        images = store(tmp_path, far, ClusterSettings(proxies=Proxies(cluster, cluster)))
        await images.pull(f"{name_of(far)}/org/cat:v1", owner="o")
        asked = len(proxy.asked)
        assert asked
        monkeypatch.setenv(variable(far), f"http://{given.address}")
        await images.pull(f"{name_of(far)}/org/cat:v1", owner="o")
        assert given.asked
        assert len(proxy.asked) == asked


async def test_no_proxy_excepts(
    far: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with ForwardProxy() as proxy:
        monkeypatch.setenv(variable(far), f"http://{proxy.address}")
        monkeypatch.setenv("NO_PROXY", "10.0.0.0/8,.test")
        with pytest.raises(UnreachableError, match="its name cannot be resolved"):
            await store(tmp_path, far).pull(f"{name_of(far)}/org/cat:v1", owner="o")
    assert not proxy.asked


async def test_a_proxy_that_asks_who_we_are_is_reported(
    far: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far.push(build_image([FILES]), "org/cat", tag="v1")
    async with ForwardProxy(user=USER) as proxy:
        monkeypatch.setenv(variable(far), f"http://{USER}@{proxy.address}")
        pulled = await store(tmp_path, far).pull(f"{name_of(far)}/org/cat:v1", owner="o")
    assert await pulled.read() == FILES


@pytest.mark.parametrize("user", ["", "me:wrong@"])
async def test_a_proxy_that_refuses_us_is_named_without_the_password(
    far: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: str
) -> None:
    async with ForwardProxy(user=USER) as proxy:
        monkeypatch.setenv(variable(far), f"http://{user}{proxy.address}")
        message = f"proxyconnect: proxy http://{proxy.address} refuses: 407"
        with pytest.raises(UnreachableError, match=message) as caught:
            await store(tmp_path, far).pull(f"{name_of(far)}/org/cat:v1", owner="o")
    assert "NO_PROXY" in caught.value.hint
    assert "wrong" not in caught.value.describe()


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        ("403 Forbidden", " refuses: 403 Forbidden"),
        ("502 Bad Gateway", " refuses: 502 Bad Gateway"),
        ("", ": Server disconnected without sending a response"),
    ],
)
async def test_a_proxy_that_opens_no_tunnel_is_reported_with_its_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: str, said: str
) -> None:
    async with ForwardProxy(refusal=refusal) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:secret@{proxy.address}")
        settings = PullSettings(registries_conf=tmp_path / "registries.conf")
        images = ImageStore(tmp_path / "i", lambda: settings, jitter=lambda: 0.0)
        message = f"cannot reach registry {NAME}: proxyconnect: proxy http://{proxy.address}{said}"
        with pytest.raises(UnreachableError, match=message) as caught:
            await images.pull(f"{NAME}/org/cat:v1", owner="o")
    assert set(proxy.asked) == {f"CONNECT {NAME}:443"}
    assert "secret" not in caught.value.describe()


async def test_a_proxy_whose_certificate_is_not_trusted_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority = CertificateAuthority.create("proxy-ca")
    pair = authority.issue_server("proxy", hosts=["127.0.0.1"]).write(tmp_path, "proxy")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*pair)
    async with ForwardProxy(tls=context) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"https://{proxy.address}")
        settings = PullSettings(registries_conf=tmp_path / "registries.conf")
        images = ImageStore(tmp_path / "i", lambda: settings, jitter=lambda: 0.0)
        message = f"proxyconnect: proxy https://{proxy.address}: .*CERTIFICATE_VERIFY_FAILED"
        with pytest.raises(UnreachableError, match=message):
            await images.pull(f"{NAME}/org/cat:v1", owner="o")


async def test_a_registry_without_tls_beyond_the_proxy_is_not_the_proxys_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Registry(tmp_path / "registry", tls=False, names=[NAME]) as registry:
        async with ForwardProxy() as proxy:
            monkeypatch.setenv("HTTPS_PROXY", f"http://{proxy.address}")
            settings = PullSettings(registries_conf=tmp_path / "registries.conf")
            images = ImageStore(tmp_path / "i", lambda: settings, jitter=lambda: 0.0)
            with pytest.raises(NoTlsError, match="does not speak TLS"):
                await images.pull(f"{name_of(registry)}/org/cat:v1", owner="o")


async def test_a_proxy_that_is_not_there_is_named(
    far: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable(far), "http://127.0.0.1:1")
    with pytest.raises(
        UnreachableError, match=r"proxyconnect: proxy http://127\.0\.0\.1:1: connection ref"
    ):
        await store(tmp_path, far).pull(f"{name_of(far)}/org/cat:v1", owner="o")


async def test_the_registrys_certificate_is_checked_beyond_the_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Registry(tmp_path / "registry") as registry:  # its certificate is not for NAME
        async with ForwardProxy() as proxy:
            monkeypatch.setenv("HTTPS_PROXY", f"http://{proxy.address}")
            with pytest.raises(UntrustedError, match=NAME):
                await store(tmp_path, registry).pull(f"{name_of(registry)}/cat:v1", owner="o")
    assert proxy.asked


async def test_a_proxy_with_tls_is_trusted_by_the_folder_of_cas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Registry(tmp_path / "registry", names=[NAME]) as registry:
        registry.push(build_image([FILES]), "org/cat", tag="v1")
        authority = CertificateAuthority.load_or_create(registry.work_dir / "pki", "registry-ca")
        pair = authority.issue_server("proxy", hosts=["127.0.0.1"]).write(tmp_path, "proxy")
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(*pair)
        async with ForwardProxy(tls=context) as proxy:
            monkeypatch.setenv("HTTPS_PROXY", f"https://{proxy.address}")
            images = store(tmp_path, registry)
            pulled = await images.pull(f"{name_of(registry)}/org/cat:v1", owner="o")
            assert await pulled.read() == FILES
    assert set(proxy.asked) == {f"CONNECT {name_of(registry)}"}
