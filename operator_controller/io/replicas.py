"""Answers of the content that a catalog resolved to, whichever replica of catalogd has it.

A replica serves what it has until it has fetched what is newer, and names the source of each
answer. One that is behind is asked again soon, over a new connection, so that a Service may choose
another replica. Answers that name no source are upstream's, of which only one replica has content.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import httpx

from api.olm.v1.names import HEADER_RESOLVED_SOURCE
from olm_runtime.errors import TransientError
from olm_runtime.images.reference import digest_of

TRIES = 8
PAUSE_SECONDS = 0.25
AGAIN_SECONDS = 5.0
"""Until the next attempt, at most: a replica fetches what is new within seconds."""
NO_CONTENT = "404 Not Found"
"""The answer of a replica that has nothing of a catalog yet."""


class ReplicaBehindError(TransientError):
    """No replica that was asked has the content; `message` says what they have."""


@asynccontextmanager
async def answer_of(
    http: httpx.AsyncClient,
    url: str,
    source: str,
    *,
    params: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> AsyncIterator[httpx.Response]:
    """An answer of the content `source`, a reference by digest; its body is not read yet.

    Raises ReplicaBehindError, httpx.HTTPError.
    """
    asked = dict(headers or {})
    for _ in range(TRIES):
        async with http.stream("GET", url, params=params, headers=asked) as response:
            other = await _other_content(response, source)
            if not other:
                yield response
                return
        asked["Connection"] = "close"
        await asyncio.sleep(PAUSE_SECONDS)
    raise ReplicaBehindError(
        f"its replicas serve {other} and not yet {digest_of(source)}",
        hint="it is asked again until they do; if that lasts, see the logs of catalogd's pods",
        within=AGAIN_SECONDS,
    )


def names_source(response: httpx.Response) -> bool:
    """Whether an answer says which content it is of."""
    return HEADER_RESOLVED_SOURCE in response.headers


async def _other_content(response: httpx.Response, source: str) -> str:
    """What the replica has in place of the content to read; empty if it has that."""
    if response.status_code == httpx.codes.NOT_FOUND:
        await response.aread()
        return "nothing" if response.text.strip() == NO_CONTENT else ""
    found = digest_of(response.headers.get(HEADER_RESOLVED_SOURCE, source))
    return "" if found == digest_of(source) else found
