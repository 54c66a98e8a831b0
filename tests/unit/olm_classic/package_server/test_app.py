"""What the API answers, without a server before it."""

from datetime import UTC, datetime

import httpx
import orjson
import pytest

from olm_classic.package_manifests.shelf import Shelf
from olm_classic.package_server.app import PARTS_AT_ONCE, api
from tests.unit.olm_classic.package_manifests.catalog import packed

NOW = datetime(2026, 1, 2, tzinfo=UTC)
LIST = "/apis/packages.operators.coreos.com/v1/namespaces/olm/packagemanifests"


@pytest.mark.parametrize("count", [0, 1, PARTS_AT_ONCE // 2 - 1, PARTS_AT_ONCE])
async def test_a_list_is_the_same_plain_and_compressed(count: int) -> None:
    shelf = Shelf("olm")
    shelf.put(("olm", "catalog"), [packed(f"p{number:02}") for number in range(count)])
    transport = httpx.ASGITransport(api(shelf, lambda: NOW))
    async with httpx.AsyncClient(transport=transport, base_url="http://server") as client:
        plain = await client.get(LIST, headers={"accept-encoding": "identity"})
        compressed = await client.get(LIST, headers={"accept-encoding": "gzip"})
    assert compressed.headers["content-encoding"] == "gzip"
    assert plain.content == compressed.content
    assert plain.headers["content-length"] == str(len(plain.content))
    assert len(orjson.loads(plain.content)["items"]) == count
