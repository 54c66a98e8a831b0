"""Who sees the metrics, and what else the server answers."""

import httpx
import pytest

from olm_runtime.http.metrics_page import metrics_page
from olm_runtime.metrics.exposition import gauge


async def ask(method: str, path: str, header: str = "") -> httpx.Response:
    async def authorize(token: str) -> int:
        return {"known": 200, "unsure": 500}.get(token, 403)

    app = metrics_page(lambda: [gauge("up", "text", [({}, 1)])], authorize)
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="https://metrics") as http:
        return await http.request(method, path, headers={"Authorization": header} if header else {})


@pytest.mark.parametrize(
    ("header", "status"),
    [
        ("", 401),
        ("Basic known", 401),
        ("Bearer ", 401),
        ("Bearer known", 200),
        ("bearer known", 200),
        ("Bearer other", 403),
        ("Bearer unsure", 500),
    ],
)
async def test_metrics_are_for_those_who_may(header: str, status: int) -> None:
    answer = await ask("GET", "/metrics", header)
    assert answer.status_code == status
    assert answer.text.endswith("up 1.0\n") if status == 200 else not answer.text


async def test_there_is_nothing_else() -> None:
    assert (await ask("GET", "/", "Bearer known")).status_code == 404
    assert (await ask("POST", "/metrics", "Bearer known")).status_code == 405
