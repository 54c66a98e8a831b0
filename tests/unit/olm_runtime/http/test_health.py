"""Probes of daemons."""

import httpx
import pytest

from olm_runtime.errors import TerminalError
from olm_runtime.http.health import health_pages, serve_health
from olm_runtime.http.server import listen


async def ask(method: str, path: str, *, synced: bool) -> tuple[int, str]:
    app = health_pages(
        alive={"watches": lambda: True}, ready={"synced": lambda: synced, "open": lambda: True}
    )
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://health") as http:
        answer = await http.request(method, path)
        return answer.status_code, answer.text


@pytest.mark.parametrize(
    ("method", "path", "synced", "expected"),
    [
        ("GET", "/healthz", False, (200, "ok")),
        ("GET", "/readyz", True, (200, "ok")),
        ("GET", "/readyz", False, (503, "not ready: synced")),
        ("GET", "/readyz/", True, (404, "404 page not found\n")),
        ("GET", "/", True, (404, "404 page not found\n")),
        ("POST", "/healthz", True, (405, "Method Not Allowed\n")),
    ],
)
async def test_probes(method: str, path: str, expected: tuple[int, str], *, synced: bool) -> None:
    assert await ask(method, path, synced=synced) == expected


async def test_an_address_that_is_taken_names_the_flag() -> None:
    expected = pytest.raises(TerminalError, match="cannot serve health: ")
    with listen(("127.0.0.1", 0)) as taken, expected as caught:
        await serve_health(taken.getsockname(), alive={}, ready={})
    assert "--health-probe-bind-address" in caught.value.hint
