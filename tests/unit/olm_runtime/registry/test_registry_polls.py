"""What a tag names is asked without pulling it, and no sooner than the registry wants."""

import asyncio
from pathlib import Path

import pytest

from olm_runtime.images.oci import ImageContentError
from olm_runtime.outcome import Retry, outcome_of
from olm_runtime.registry.calls import LONGEST_WAIT_SECONDS, wait_asked
from olm_runtime.registry.errors import UnreachableError
from olm_runtime.registry.image_store import ImageStore
from olm_runtime.registry.settings import PullSettings
from tests.fuzz.evil import CONFIG, Answer, Evil, digest_of, manifest, reply

DIGEST = digest_of(manifest())


def store(folder: Path, registry: Evil) -> ImageStore:
    settings = PullSettings(
        plain_http=frozenset({registry.address}), registries_conf=folder / "registries.conf"
    )
    return ImageStore(folder, lambda: settings, jitter=lambda: 0.5)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited; nothing is."""
    waited: list[float] = []
    real_sleep = asyncio.sleep

    async def sleep(seconds: float) -> None:
        waited.append(seconds)
        await real_sleep(0)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return waited


async def test_an_unchanged_tag_is_asked_for_without_its_manifest(tmp_path: Path) -> None:
    answer = reply(b"", f"Docker-Content-Digest: {DIGEST}")
    async with Evil({"/manifests/v1": answer}) as registry:
        known = f"{registry.address}/cat@{DIGEST}"
        newer = await store(tmp_path, registry).pull_if_changed(
            f"{registry.address}/cat:v1", known=known, owner="o"
        )
    assert newer is None
    assert [asked.method for asked in registry.asked] == ["HEAD"]


@pytest.mark.parametrize(
    "answer",
    [
        reply(manifest()),
        reply(manifest(), "Docker-Content-Digest: sha256:../../etc/passwd"),
        reply(manifest(), f"Docker-Content-Digest: md5:{'0' * 32}"),
    ],
)
async def test_a_registry_that_does_not_say_is_asked_for_the_manifest(
    tmp_path: Path, answer: bytes
) -> None:
    async with Evil({"/manifests/v1": answer}) as registry:
        found = await store(tmp_path, registry).resolve(f"{registry.address}/cat:v1")
    assert found.digest == DIGEST


async def test_a_digest_that_is_claimed_is_checked(tmp_path: Path) -> None:
    other = digest_of(b"other")
    routes: dict[str, Answer] = {
        "/manifests/": reply(manifest(), f"Docker-Content-Digest: {other}"),
        "/blobs/": reply(CONFIG),
    }
    async with Evil(routes) as registry:
        with pytest.raises(ImageContentError, match="does not match its digest"):
            await store(tmp_path, registry).pull(f"{registry.address}/cat:v1", owner="o")


@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Busy"])
async def test_a_registry_is_left_alone_for_as_long_as_it_wants(
    tmp_path: Path, pauses: list[float], status: str
) -> None:
    """Not for less than without a wish: 0.3 s and 0.6 s."""
    async with Evil({"/v2/": reply(b"", "Retry-After: 7", status=status)}) as registry:
        with pytest.raises(UnreachableError, match="wants to be asked again in 7 s"):
            await store(tmp_path, registry).pull(f"{registry.address}/cat:v1", owner="o")
        assert len(registry.asked) == 3
        registry.routes["/v2/"] = reply(b"", "Retry-After: 0", status=status)
        with pytest.raises(UnreachableError):
            await store(tmp_path, registry).pull(f"{registry.address}/cat:v1", owner="o")
    assert [seconds for seconds in pauses if seconds] == pytest.approx([7, 7, 0.3, 0.6])


async def test_a_long_wait_is_left_to_the_next_reconcile(
    tmp_path: Path, pauses: list[float]
) -> None:
    answer = reply(b"", "Retry-After: 600", status="429 Too Many Requests")
    async with Evil({"/v2/": answer}) as registry:
        with pytest.raises(UnreachableError) as caught:
            await store(tmp_path, registry).pull(f"{registry.address}/cat:v1", owner="o")
    assert len(registry.asked) == 1
    assert not [seconds for seconds in pauses if seconds]
    outcome = outcome_of(caught.value)
    assert isinstance(outcome, Retry)
    assert outcome.after == 600


async def test_a_token_server_is_left_alone_too(tmp_path: Path, pauses: list[float]) -> None:
    challenge = 'WWW-Authenticate: Bearer realm="http://$HOST/token"'
    routes: dict[str, Answer] = {
        "/token": reply(b"", "Retry-After: 7", status="429 Too Many Requests"),
        "/v2/": reply(b"", challenge, status="401 Unauthorized"),
    }
    async with Evil(routes) as registry:
        with pytest.raises(UnreachableError, match=r"token server \S+ answers 429"):
            await store(tmp_path, registry).pull(f"{registry.address}/cat:v1", owner="o")
    assert [seconds for seconds in pauses if seconds] == [7, 7]


NOON = "Sun, 22 Nov 2026 12:00:00 GMT"


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"Retry-After": "120"}, 120),
        ({"Retry-After": " 3 "}, 3),
        ({"Retry-After": "9" * 5000}, LONGEST_WAIT_SECONDS),
        ({"Retry-After": "-5"}, 0),
        ({"Retry-After": "1.5"}, 0),
        ({"Retry-After": "\u0665"}, 0),
        ({"Retry-After": "soon"}, 0),
        ({"Retry-After": "Sun, 22 Nov 2026 12:01:00 GMT", "Date": NOON}, 60),
        ({"Retry-After": "Sun, 22 Nov 2026 11:00:00 GMT", "Date": NOON}, 0),
        ({"Retry-After": "Sun, 22 Nov 2099 12:01:00 GMT", "Date": NOON}, LONGEST_WAIT_SECONDS),
        ({"Retry-After": "Sun, 22 Nov 2026 12:01:00 GMT"}, 0),
        ({"Retry-After": "Sun, 22 Nov 2026 12:01:00 -0000", "Date": NOON}, 0),
    ],
)
def test_what_a_server_wants_is_read(headers: dict[str, str], seconds: float) -> None:
    assert wait_asked(headers) == seconds
