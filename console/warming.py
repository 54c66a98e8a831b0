"""What the first page would wait for, begun before somebody asks: a browser starts more slowly."""

import asyncio
from contextlib import suppress

from api.olm.v1.kinds import EXTENSION
from console.offers import warm
from console.rendering import environment
from console.static_files import files
from console.users import User
from olm_runtime.errors import OLMError

WARMING = "warm"
FIRST_TEMPLATES = ("base.html", "connection.html", "parts.html", "overview.html")


async def warm_up(user: User) -> None:
    """Begins to read catalogs and to watch extensions; compiles and compresses what is shown."""
    await asyncio.gather(warm(user), _watch_extensions(user), asyncio.to_thread(_compile))


async def _watch_extensions(user: User) -> None:
    with suppress(OLMError):  # the pages that need them say what is wrong
        if await user.serves(EXTENSION):
            await user.objects(EXTENSION)


def _compile() -> None:
    files()
    for name in FIRST_TEMPLATES:
        environment().get_template(name)
