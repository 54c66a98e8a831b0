"""What a registry that asks who we are gets to know, and how it is asked; over real connections."""

import base64
import json
import logging
import ssl
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from e2e.harness.pki import CertificateAuthority
from olm_runtime.registry import http as registry_http
from olm_runtime.registry.errors import RegistryError, UnauthorizedError, UnreachableError
from olm_runtime.registry.image_store import ImageStore
from olm_runtime.registry.settings import PullSettings
from tests.fuzz.evil import CONFIG, Answer, Asked, Evil, digest_of, manifest, reply

PAIR = base64.b64encode(b"robot:s3cret").decode()
DIGEST = digest_of(manifest())
TOKEN = reply(b'{"token":"secret"}')


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry_http, "FIRST_PAUSE_SECONDS", 0.001)


class Asking(Evil):
    """A registry with one image, for those only who answer its challenge."""

    def __init__(
        self, *challenges: str, expects: str = "Bearer secret", tls: tuple[Path, Path] | None = None
    ) -> None:
        headers = [f"WWW-Authenticate: {challenge}" for challenge in challenges]
        self.refusal = reply(b"", *headers, status="401 Unauthorized")
        self.expects = expects
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH) if tls else None
        if context and tls:
            context.load_cert_chain(*tls)
        routes: dict[str, Answer] = {
            "/token": TOKEN,
            "/manifests/": reply(manifest()),
            "/blobs/": reply(CONFIG),
        }
        super().__init__(routes, tls=context)

    def choose(self, asked: Asked) -> Answer:
        """The challenge, unless it was answered."""
        known = asked.headers.get("authorization") == self.expects
        return super().choose(asked) if known or "/token" in asked.target else self.refusal

    @property
    def tokens(self) -> list[Asked]:
        """The requests for tokens."""
        return [asked for asked in self.asked if "/token" in asked.target]


def store(
    folder: Path, registry: Evil, entry: Mapping[str, object] | None = None, *, plain: bool = True
) -> ImageStore:
    auth_file = folder / "auth.json"
    auths = {registry.address: {"auth": PAIR} if entry is None else entry}
    auth_file.write_text(json.dumps({"auths": auths}))
    settings = PullSettings(
        cas_dir=folder,
        auth_file=auth_file,
        plain_http=frozenset({registry.address} if plain else ()),
        registries_conf=folder / "registries.conf",
    )
    return ImageStore(folder / "images", lambda: settings, jitter=lambda: 0.0)


@pytest.mark.parametrize(
    "challenges",
    [
        ['Bearer realm="http://$HOST/token",service="s"'],
        ['Basic realm="r", Bearer realm="http://$HOST/token",service="s"'],
        ['Basic realm="r"', 'Bearer realm="http://$HOST/token",service="s"'],
        ['Negotiate abc==, Bearer service="s" , realm="http://$HOST/token"'],
        ["Bearer realm=http://$HOST/token,service=s"],
        ['bearer Realm = "http://$HOST/token", SERVICE = "s", error="insufficient, scope"'],
    ],
)
async def test_the_token_server_of_any_well_formed_challenge_is_asked(
    tmp_path: Path, challenges: list[str]
) -> None:
    async with Asking(*challenges) as registry:
        await store(tmp_path, registry).pull(f"{registry.address}/cat@{DIGEST}", owner="o")
    (asked,) = registry.tokens
    assert parse_qs(urlsplit(asked.target).query) == {
        "service": ["s"],
        "scope": ["repository:cat:pull"],
    }
    assert asked.headers["authorization"] == f"Basic {PAIR}"


async def test_a_realm_keeps_its_query(tmp_path: Path) -> None:
    async with Asking('Bearer realm="http://$HOST/token?tenant=a%26b",service="s"') as registry:
        await store(tmp_path, registry).pull(f"{registry.address}/cat@{DIGEST}", owner="o")
    query = parse_qs(urlsplit(registry.tokens[0].target).query)
    assert query["tenant"] == ["a&b"]
    assert query["scope"] == ["repository:cat:pull"]


async def test_the_password_is_given_where_no_token_server_is_named(tmp_path: Path) -> None:
    async with Asking('Digest realm="r", Basic realm="r"', expects=f"Basic {PAIR}") as registry:
        await store(tmp_path, registry).pull(f"{registry.address}/cat@{DIGEST}", owner="o")
    assert not registry.tokens


async def test_an_identity_token_is_traded_for_a_token_and_given_to_nobody_else(
    tmp_path: Path,
) -> None:
    async with Asking('Bearer realm="http://$HOST/token?a=b",service="s"') as registry:
        registry.routes["/token"] = reply(b'{"access_token":"secret"}')
        entry = {"auth": base64.b64encode(b"0000:").decode(), "identitytoken": "ident&ity"}
        images = store(tmp_path, registry, entry)
        await images.pull(f"{registry.address}/cat@{DIGEST}", owner="o")
    (asked,) = registry.tokens
    assert asked.method == "POST"
    assert asked.headers["content-type"] == "application/x-www-form-urlencoded"
    assert "authorization" not in asked.headers
    assert asked.target == "/token?a=b"
    assert parse_qs(asked.body.decode()) == {
        "grant_type": ["refresh_token"],
        "refresh_token": ["ident&ity"],
        "client_id": ["olm"],
        "service": ["s"],
        "scope": ["repository:cat:pull"],
    }


async def test_an_identity_token_is_no_password(tmp_path: Path) -> None:
    async with Asking('Basic realm="r"') as registry:
        images = store(tmp_path, registry, {"auth": PAIR, "identitytoken": "x"})
        with pytest.raises(UnauthorizedError):
            await images.pull(f"{registry.address}/cat@{DIGEST}", owner="o")
    assert [asked.headers.get("authorization") for asked in registry.asked] == [None]


async def test_a_credential_that_is_withheld_is_logged_and_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with Evil({"/": TOKEN}) as elsewhere:
        port = elsewhere.address.rpartition(":")[2]
        challenge = f'Bearer realm="http://localhost:{port}/token"'
        async with Asking(challenge, expects="nothing") as registry:
            images = store(tmp_path, registry)
            with (
                caplog.at_level(logging.WARNING),
                pytest.raises(RegistryError) as caught,
            ):
                await images.pull(f"{registry.address}/cat@{DIGEST}", owner="o")
    (asked,) = elsewhere.asked
    assert "authorization" not in asked.headers
    reason = f"withheld from token server localhost:{port}"
    assert [reason in record.getMessage() for record in caplog.records] == [True]
    assert reason in caught.value.message
    assert PAIR not in caplog.text


@pytest.mark.parametrize("realm", ["http://$HOST/token", "ftp://$HOST/token", "/token", ""])
async def test_a_token_server_without_tls_is_not_asked_at_all(tmp_path: Path, realm: str) -> None:
    """Not even without credentials: who sits between could hand out the token."""
    authority = CertificateAuthority.create("registry")
    (tmp_path / "registry-ca.crt").write_bytes(authority.certificate)
    pair = authority.issue_server("registry", hosts=["127.0.0.1"]).write(tmp_path, "server")
    async with Asking(f'Bearer realm="{realm}"', tls=pair) as registry:
        images = store(tmp_path, registry, plain=False)
        with pytest.raises(RegistryError, match=r"not served over HTTPS|refuses access"):
            await images.pull(f"{registry.address}/cat@{DIGEST}", owner="o")
    assert len(registry.asked) == 1


async def test_a_challenge_of_a_redirects_target_is_not_answered(tmp_path: Path) -> None:
    """Neither with the registry's credentials, nor by giving the registry another's token."""
    async with Asking('Bearer realm="http://$HOST/token"', expects="nothing") as far:
        there = f"http://{far.address}/v2/cat/manifests/v1"
        routes: dict[str, Answer] = {"/": reply(b"", f"Location: {there}", status="307 There")}
        async with Evil(routes) as registry:
            images = store(tmp_path, registry)
            with pytest.raises(RegistryError, match=f"redirects to {far.address}, which"):
                await images.pull(f"{registry.address}/cat@{DIGEST}", owner="o")
    assert [asked.headers.get("authorization") for asked in far.asked] == [None]
    assert len(registry.asked) == 1


async def test_a_token_server_that_is_busy_is_not_one_that_refuses(tmp_path: Path) -> None:
    async with Asking('Bearer realm="http://$HOST/token"') as registry:
        registry.routes["/token"] = reply(b"", status="503 Busy")
        with pytest.raises(UnreachableError, match=f"token server {registry.address} answers 503"):
            await store(tmp_path, registry).pull(f"{registry.address}/cat@{DIGEST}", owner="o")
    assert len(registry.tokens) == registry_http.TRIES
