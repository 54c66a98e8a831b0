"""A console whose API server is away, and a browser."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from starlette.responses import PlainTextResponse

from console.app import console_app
from console.local import entry_routes
from console.sessions import KeySessions
from console.users import User
from olm_client.reach import ClusterOptions, Reach
from tests.unit.console.visitors import HOST, PLACE


@pytest.fixture
async def user(tmp_path: Path) -> AsyncIterator[User]:
    """Somebody whose API server is away."""
    config = tmp_path / "kubeconfig"
    config.write_text(
        "{current-context: here, contexts: [{name: here, context: {cluster: here, user: me}}],"
        " clusters: [{name: here, cluster: {server: 'http://127.0.0.1:1'}}],"
        " users: [{name: me, user: {}}]}"
    )
    made = User.connect("you", ClusterOptions(Reach(str(config))))
    yield made
    await made.close()


@pytest.fixture
async def browser(user: User) -> AsyncIterator[httpx.AsyncClient]:
    """A browser that knows a key: its header `Key` says which."""
    keys: list[str] = []
    sessions = KeySessions(user, keys.append)
    sessions.offer()
    routes = entry_routes(PLACE, sessions)

    @routes.post("/echo")
    async def echo() -> PlainTextResponse:
        return PlainTextResponse("done")

    @routes.get("/fault")
    async def fault() -> None:
        raise ValueError("a fault")

    app = console_app(PLACE, sessions, routes)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:
        client.headers["Key"] = keys[0]
        yield client
