"""What an ingest process met at a registry reaches whoever started it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from catalogd.io.images import Images, ImageSettings
from catalogd.metrics import Metrics
from olm_runtime.errors import TransientError
from tests.fuzz.evil import Evil, reply


@contextmanager
def images(folder: Path, registry: Evil) -> Iterator[Images]:
    auth_file = folder / "auth.json"
    auth_file.write_text(json.dumps({"auths": {registry.address: {"auth": "cm9ib3Q6eA=="}}}))

    async def settings() -> ImageSettings:
        plain = frozenset({registry.address})
        return ImageSettings(cache_dir=folder, auth_file=auth_file, plain_http=plain)

    made = Images(settings, Metrics())
    try:
        yield made
    finally:
        made.close()


async def test_how_long_a_registry_asks_to_be_left_alone(tmp_path: Path) -> None:
    answer = reply(b"", "Retry-After: 600", status="429 Too Many Requests")
    async with Evil({"/v2/": answer}) as registry:
        with (
            images(tmp_path, registry) as tried,
            pytest.raises(TransientError, match="answers 429") as caught,
        ):
            await tried.fetch("c", f"{registry.address}/cat:v1", None)
    assert caught.value.after == 600


async def test_that_credentials_are_withheld_is_logged(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with Evil({}) as registry:
        port = registry.address.rpartition(":")[2]
        challenge = f'WWW-Authenticate: Bearer realm="http://localhost:{port}/token"'
        registry.routes["/v2/"] = reply(b"", challenge, status="401 Unauthorized")
        with (
            images(tmp_path, registry) as tried,
            pytest.raises(TransientError, match="withheld"),
        ):
            await tried.fetch("c", f"{registry.address}/cat:v1", None)
    lines = capfd.readouterr().err.splitlines()
    (line,) = (line for line in lines if "withheld" in line)
    assert f" WARNING olm_runtime.registry.tokens: registry {registry.address}: " in line
