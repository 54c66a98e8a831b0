"""Pages that are imported when somebody first asks for one of their part.

What they are made over (rendering, dry runs, OLM Classic, clusters' versions) is half of what the
console would have in memory, and its start would wait for it.
"""

import asyncio
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType

from fastapi import APIRouter, FastAPI

from olm_runtime.http.asgi import Receive, Scope, Send

LATE_PAGES: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "/catalogs": ("catalogs",),
        "/classic": ("classic", "classic_acts"),
        "/cluster": ("cluster",),
        "/doctor": ("doctor",),
        "/extensions/": ("extension", "acts"),
        "/packages/": ("install", "definitions", "package"),
    }
)
"""Modules of `console.pages` by what the paths of their pages begin with."""


def late_routers(start: str) -> list[APIRouter]:
    """The routes of those modules."""
    return [import_module(f"console.pages.{name}").router for name in LATE_PAGES[start]]


class LatePages:
    """The application; pages are added to it as they are first asked for."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._absent = set(LATE_PAGES)
        self._adding = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        path = scope.get("path", "")
        if self._wanted(path):
            async with self._adding:
                for start in self._wanted(path):
                    # Requests of others go on while modules are imported.
                    for router in await asyncio.to_thread(late_routers, start):
                        self._app.include_router(router)
                    self._absent.discard(start)
        await self._app(scope, receive, send)

    def _wanted(self, path: str) -> list[str]:
        return [each for each in self._absent if path.startswith(each)]
