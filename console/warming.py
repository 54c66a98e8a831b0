"""What the first page would wait for, begun before somebody asks: a browser starts more slowly."""

import asyncio
from contextlib import suppress

from api.olm.v1.kinds import CATALOG, EXTENSION
from console.offers import warm
from console.parts import parts_for
from console.rendering import environment
from console.static_files import files
from console.users import User
from olm_runtime.errors import OLMError

WARMING = "warm"
FIRST_TEMPLATES = ("base.html", "connection.html", "parts.html", "overview.html")
UNSEEN_SECONDS = 5.0
"""After which catalogs are read though no browser shows a page."""


async def warm_up(user: User) -> None:
    """Makes ready what the first page needs; begins to read the catalogs once a browser shows it.

    Both processors of a small machine would read catalogs while the browser draws that page.
    """
    await asyncio.gather(_watch(user), asyncio.to_thread(_compile))
    with suppress(TimeoutError):
        async with asyncio.timeout(UNSEEN_SECONDS):
            await user.changes.shown.wait()
    await warm(user)


async def _watch(user: User) -> None:
    with suppress(OLMError):  # the pages that need them say what is wrong
        await parts_for(user)
        for kind in (EXTENSION, CATALOG):
            if await user.serves(kind):
                await user.objects(kind)


def _compile() -> None:
    files()
    for name in FIRST_TEMPLATES:
        environment().get_template(name)
