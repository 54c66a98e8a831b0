"""Registries that lie about sizes and digests, send elsewhere, or ask for credentials."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import pytest

from olm_runtime.errors import OLMError
from olm_runtime.registry import http as registry_http
from olm_runtime.registry.image_store import ImageStore
from olm_runtime.registry.settings import PullSettings, this_platform
from tests.fuzz.evil import CONFIG, Answer, Evil, descriptor, digest_of, endless, manifest, reply

LAYER = b"layer"
PAIR = base64.b64encode(b"robot:s3cret").decode()
HERE = {"os": "linux", "architecture": this_platform().architecture}
INDEX_TYPE = "application/vnd.oci.image.index.v1+json"


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry_http, "FIRST_PAUSE_SECONDS", 0.001)


def image(**changes: object) -> dict[str, Answer]:
    return {"/manifests/": reply(manifest(**changes)), "/blobs/": reply(CONFIG)}


def layered(*layers: object, blob: Answer = b"") -> dict[str, Answer]:
    """An image whose configuration is honest and whose layers are not."""
    return {
        f"/blobs/{digest_of(CONFIG)}": reply(CONFIG),
        "/manifests/": reply(manifest(layers=list(layers))),
        "/blobs/": blob,
    }


def index(*entries: object) -> bytes:
    document = {"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": list(entries)}
    return reply(json.dumps(document).encode())


def challenge(text: str) -> bytes:
    return reply(b"", f"WWW-Authenticate: {text}", status="401 Unauthorized")


def token(body: bytes) -> dict[str, Answer]:
    return {"/token": reply(body), "/v2/": challenge('Bearer realm="http://$HOST/token"')}


def redirect(where: str) -> dict[str, Answer]:
    return {"/manifests/": reply(b"", f"Location: {where}", status="307 Temporary Redirect")}


HOSTILE: Mapping[str, tuple[Mapping[str, Answer], str]] = {
    "manifest without end": ({"/manifests/": endless()}, "larger than"),
    "manifest too large": ({"/manifests/": reply(b" " * (5 << 20))}, "larger than"),
    "manifest no JSON": ({"/manifests/": reply(b"<html>")}, "no JSON"),
    "manifest no object": ({"/manifests/": reply(b"[]")}, "no JSON object"),
    "manifest nested": ({"/manifests/": reply(b'{"a":' + b"[" * 100_000)}, "no JSON"),
    "manifest of nothing": ({"/manifests/": reply(b"{}")}, "no container image"),
    "manifest compressed": (
        {"/manifests/": reply(b"\x1f\x8b\x08", "Content-Encoding: gzip")},
        "no JSON",
    ),
    "config size too small": (image(config=descriptor(CONFIG, size=1)), "is corrupt"),
    "config size too large": (image(config=descriptor(CONFIG, size=3)), "is corrupt"),
    "config size negative": (image(config=descriptor(CONFIG, size=-1)), "invalid descriptor"),
    "config size a text": (image(config=descriptor(CONFIG, size="2")), "invalid descriptor"),
    "config size giant": (image(config=descriptor(CONFIG, size=1 << 62)), "larger than"),
    "config of other bytes": (image(config=descriptor(b"{ ")), "is corrupt"),
    "config no JSON": (
        {"/manifests/": reply(manifest(config=descriptor(b"{x"))), "/blobs/": reply(b"{x")},
        "image configuration is no JSON",
    ),
    "digest unknown": (image(config=descriptor(CONFIG, digest="md5:00")), "unsupported digest"),
    "digest a path": (
        image(config=descriptor(CONFIG, digest="sha256:../../../etc/passwd")),
        "invalid checksum digest",
    ),
    "digest a number": (image(config=descriptor(CONFIG, digest=7)), "digest is missing"),
    "layers no list": (image(layers={}), 'no list "layers"'),
    "layers too many": (image(layers=[descriptor(CONFIG)] * 300), "more than 256 layers"),
    "layers giant together": (
        image(layers=[descriptor(LAYER, size=3 << 30)] * 2),
        "layers are larger than",
    ),
    "layer without end": (layered(descriptor(LAYER), blob=endless()), "is corrupt"),
    "layer cut off": (
        layered(descriptor(LAYER), blob=reply(LAYER)[:-2]),
        "cannot reach|is corrupt",
    ),
    "layer of other bytes": (layered(descriptor(LAYER), blob=reply(b"LAYER")), "is corrupt"),
    "index of no platform": ({"/manifests/": index()}, "has no manifest for"),
    "index of itself": (
        {"/manifests/v1": index(descriptor(b"", platform=HERE)), "/manifests/": index()},
        "does not match its digest",
    ),
    "index no list": ({"/manifests/": reply(b'{"manifests":7}')}, 'no list "manifests"'),
    "redirect without end": (redirect("/v2/cat/manifests/v1"), "redirects without end"),
    "redirect to a file": (redirect("file:///etc/passwd"), "unsafe address"),
    "redirect elsewhere odd": (redirect("gopher://127.0.0.1/"), "unsafe address"),
    "redirect to no address": (redirect("http://[oops/"), "invalid address"),
    "redirect to no port": (redirect("http://127.0.0.1:99999999/"), "invalid address"),
    "redirect to a name that cannot be": (redirect("http://xn--a/"), "invalid address"),
    "redirect to no name": (redirect(f"http://{'a' * 9000}/"), "invalid address"),
    "realm no name": (
        {"/v2/": challenge(f'Bearer realm="http://{"a" * 9000}/"')},
        "invalid address",
    ),
    "redirect to nobody": (redirect("http:///nowhere"), "not found in registry"),
    "redirect empty": (redirect(""), "redirects without end|answers 307"),
    "challenge always": (token(b'{"token":"x"}'), "refuses access"),
    "challenge of nothing": ({"/v2/": challenge("Bearer")}, "refuses access"),
    "challenge unknown": ({"/v2/": challenge("Digest realm=x")}, "refuses access"),
    "challenge of noise": (
        {"/v2/": challenge('Bearer realm="\x80\xff", ,,=')},
        "not served over HTTPS",
    ),
    "realm a file": (
        {"/v2/": challenge('Bearer realm="file:///etc/passwd"')},
        "not served over HTTPS",
    ),
    "realm no address": ({"/v2/": challenge('Bearer realm="http://[oops"')}, "invalid address"),
    "token no JSON": (token(b"<html>"), "sends no token"),
    "token a list": (token(b"[]"), "sends no token"),
    "token missing": (token(b"{}"), "sends no token"),
    "token with a line break": (token(b'{"token":"a\\r\\nHost: b"}'), "sends no token"),
    "token with other letters": (token(b'{"token":"\\u00e9"}'), "sends no token"),
    "token without end": (
        {"/token": endless(), "/v2/": challenge('Bearer realm="http://$HOST/token"')},
        "larger than",
    ),
    "header without end": (
        {"/v2/": b"HTTP/1.1 200 OK\r\nX: " + b"x" * (1 << 20)},
        "cannot reach registry",
    ),
    "no HTTP": ({"/v2/": b"\x00\x01\x02 hello\r\n\r\n"}, "cannot reach registry"),
    "nothing": ({"/v2/": b""}, "cannot reach registry"),
    "error without end": (
        {"/v2/": reply(b"x" * (2 << 20), status="400 Bad Request")},
        "answers 400",
    ),
    "server error always": ({"/v2/": reply(b"", status="503 Busy")}, "answers 503"),
}  # fmt: skip


def store(
    tmp_path: Path,
    evil: Evil,
    *,
    auths: Mapping[str, object] | None = None,
    jitter: Callable[[], float] = lambda: 0.0,
) -> ImageStore:
    auth_file = tmp_path / "auth.json"
    auth_file.write_text(json.dumps({"auths": auths or {evil.address: {"auth": PAIR}}}))
    settings = PullSettings(
        auth_file=auth_file,
        plain_http=frozenset({evil.address}),
        registries_conf=tmp_path / "registries.conf",
    )
    return ImageStore(tmp_path / "images", lambda: settings, jitter=jitter)


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def authorizations(registry: Evil) -> list[str]:
    """The authorization headers that somebody was sent."""
    return [
        asked.headers["authorization"]
        for asked in registry.asked
        if "authorization" in asked.headers
    ]


@pytest.mark.parametrize("name", sorted(HOSTILE))
async def test_each_is_an_error_and_leaves_nothing(tmp_path: Path, name: str) -> None:
    routes, fault = HOSTILE[name]
    async with Evil(dict(routes)) as evil:
        with pytest.raises(OLMError, match=fault) as caught:
            await store(tmp_path, evil).pull(f"{evil.address}/cat:v1", owner="o")
    assert PAIR not in caught.value.describe()
    assert len(caught.value.message) < 1000
    assert not files_below(tmp_path / "images")
    assert len(evil.asked) < 12


async def test_another_manifest_than_the_digest_asked_for_is_refused(tmp_path: Path) -> None:
    async with Evil({"/manifests/": reply(manifest())}) as evil:
        wanted = f"{evil.address}/cat@{digest_of(b'another')}"
        with pytest.raises(OLMError, match="does not match its digest"):
            await store(tmp_path, evil).pull(wanted, owner="o")


@pytest.mark.parametrize(
    "realm",
    [
        "http://localhost:{port}/token",
        "http://{host}@localhost:{port}/token",
        "http://localhost:{port}/{host}/token",
        "http://127.0.0.1.localhost:{port}/token",
        "HTTP://LOCALHOST:{port}/token",
    ],
)
async def test_credentials_go_to_no_other_host(tmp_path: Path, realm: str) -> None:
    """The thief listens on this machine too, under another name."""
    async with Evil({"/": reply(b'{"token":"x"}')}) as thief:
        port = thief.address.rpartition(":")[2]
        async with Evil({}) as evil:
            where = realm.format(port=port, host=evil.address)
            evil.routes["/v2/"] = challenge(f'Bearer realm="{where}",service="s"')
            with pytest.raises(OLMError):
                await store(tmp_path, evil).pull(f"{evil.address}/cat:v1", owner="o")
    assert f"Basic {PAIR}" not in authorizations(thief)


async def test_a_token_does_not_follow_a_redirect(tmp_path: Path) -> None:
    async with Evil({}) as thief:
        where = f"http://{thief.address}/v2/cat/manifests/v1"
        routes: dict[str, Answer] = {"/token": reply(b'{"token":"secret"}')}
        async with Evil(routes) as evil:
            evil.routes["/manifests/"] = challenge(f'Bearer realm="http://{evil.address}/token"')
            with pytest.raises(OLMError):
                await store(tmp_path, evil).pull(f"{evil.address}/cat:v1", owner="o")
            evil.routes["/manifests/"] = redirect(where)["/manifests/"]
            with pytest.raises(OLMError):
                await store(tmp_path, evil).pull(f"{evil.address}/cat:v1", owner="o")
    assert thief.asked
    assert not authorizations(thief)


async def test_credentials_of_one_registry_are_not_for_another(tmp_path: Path) -> None:
    async with Evil({"/v2/": challenge("Basic realm=x")}) as evil:
        auths = {"registry.example.com": {"auth": PAIR}, f"{evil.address}.evil": {"auth": PAIR}}
        images = store(tmp_path, evil, auths=auths)
        with pytest.raises(OLMError, match="refuses access"):
            await images.pull(f"{evil.address}/cat:v1", owner="o")
    assert not authorizations(evil)


def failing(times: int, answer: Answer, *, fault: bytes) -> Answer:
    """Fails so many times, then answers."""
    left = times

    async def pieces() -> AsyncIterator[bytes]:
        nonlocal left
        left -= 1
        if left >= 0 or not isinstance(answer, bytes):
            yield fault
        else:
            yield answer

    return pieces


BUSY, SLOW_DOWN = reply(b"", status="503 Busy"), reply(b"", status="429 Slow down")


@pytest.mark.parametrize("fault", [BUSY, SLOW_DOWN, b"", reply(CONFIG)[:-1]])
@pytest.mark.parametrize(("times", "heals"), [(2, True), (3, False)])
async def test_what_passes_is_tried_three_times_with_pauses_that_grow_and_vary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: bytes, times: int, heals: bool
) -> None:
    pauses: list[float] = []
    real_sleep = asyncio.sleep

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await real_sleep(0)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    monkeypatch.setattr(registry_http, "FIRST_PAUSE_SECONDS", 0.3)
    jitter = iter((0.25, 0.75))
    async with Evil(image()) as evil:
        evil.routes["/blobs/"] = failing(times, reply(CONFIG), fault=fault)
        images = store(tmp_path, evil, jitter=lambda: next(jitter))
        if heals:
            await images.pull(f"{evil.address}/cat:v1", owner="o")
        else:
            with pytest.raises(OLMError):
                await images.pull(f"{evil.address}/cat:v1", owner="o")
    assert [seconds for seconds in pauses if seconds] == pytest.approx([0.3 * 0.75, 0.6 * 1.25])


@pytest.mark.parametrize(
    ("status", "asked"),
    [("400 Bad", ["HEAD", "GET"]), ("401 Who", ["HEAD"]), ("404 None", ["HEAD", "GET"])],
)
async def test_what_does_not_pass_is_not_tried_again(
    tmp_path: Path, status: str, asked: list[str]
) -> None:
    """A refusal of HEAD has no text, so that the manifest is asked for to hear why."""
    async with Evil({"/v2/": reply(b"", status=status)}) as evil:
        with pytest.raises(OLMError):
            await store(tmp_path, evil).pull(f"{evil.address}/cat:v1", owner="o")
    assert [request.method for request in evil.asked] == asked


async def test_a_blob_may_lie_on_another_host_which_gets_no_credentials(tmp_path: Path) -> None:
    async with Evil({"/far": reply(CONFIG)}) as far:
        routes: dict[str, Answer] = {
            "/token": reply(b'{"token":"secret"}'),
            "/blobs/": reply(b"", f"Location: http://{far.address}/far", status="307 There"),
        }
        async with Evil(routes) as evil:
            evil.routes["/manifests/"] = failing(
                1,
                reply(manifest()),
                fault=challenge(f'Bearer realm="http://{evil.address}/token"'),
            )
            pulled = await store(tmp_path, evil).pull(
                f"{evil.address}/cat@{digest_of(manifest())}", owner="o"
            )
    assert pulled.ref.digest == digest_of(manifest())
    assert far.asked
    assert not authorizations(far)
    assert "Bearer secret" in authorizations(evil)
