"""The console within the process of a test, asked without a browser."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from console.app import console_app
from console.local import entry_routes
from console.sessions import KeySessions
from console.settings import Place
from console.users import User
from e2e.harness.controlplane import ControlPlane
from olm_client.reach import ClusterOptions, Reach

HOST = "127.0.0.1:8899"
PLACE = Place(frozenset({HOST}), secure=False, cookie="olm-console")


@asynccontextmanager
async def console_for(user: User) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody who was let in as a user."""
    keys: list[str] = []
    sessions = KeySessions(user, keys.append)
    sessions.offer()
    app = console_app(PLACE, sessions, entry_routes(PLACE, sessions))
    transport, headers = httpx.ASGITransport(app), {"Origin": f"http://{HOST}"}
    async with httpx.AsyncClient(
        transport=transport, base_url=f"http://{HOST}", headers=headers
    ) as browser:
        await browser.get("/enter", params={"key": keys[0]})
        yield browser


@asynccontextmanager
async def console_of(control_plane: ControlPlane) -> AsyncIterator[httpx.AsyncClient]:
    """Somebody who was let in with the rights of its administrator."""
    user = User.connect("me", ClusterOptions(Reach(str(control_plane.kubeconfig))))
    try:
        async with console_for(user) as browser:
            yield browser
    finally:
        await user.close()
