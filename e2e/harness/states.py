"""What an object is and becomes: asked a few times, then watched, which takes far less."""

import json
import time
from collections.abc import Iterator

import httpx

from api.objects import KubeObject

ASKED_SECONDS = 0.2
WATCHED_SECONDS = 2
"""Who waits for the object may look at more than it: the last state comes again as often."""


def pause_after(waited: float) -> float:
    """Seconds until one asks again; who waits long asks seldom: asking takes processor time."""
    return min(max(waited / 4, 0.04), 0.5)


def states(client: httpx.Client, path: str, *, seconds: float) -> Iterator[KubeObject | None]:
    """The object at an API path, None while there is none; again whenever it may have changed.

    Ends after so many seconds. Errors: httpx.HTTPStatusError.
    """
    begun = time.monotonic()
    while (waited := time.monotonic() - begun) < ASKED_SECONDS:
        yield object_at(client, path)
        time.sleep(pause_after(waited))
    while (waited := time.monotonic() - begun) < seconds:
        yield from _watched(client, path, pause=pause_after(waited))


def object_at(client: httpx.Client, path: str) -> KubeObject | None:
    """The object at an API path, or None. Errors: httpx.HTTPStatusError."""
    answer = client.get(path)
    if answer.status_code == httpx.codes.NOT_FOUND:
        return None
    found: KubeObject = answer.raise_for_status().json()
    return found


def _watched(client: httpx.Client, path: str, *, pause: float) -> Iterator[KubeObject | None]:
    """What it is, and what it becomes within some seconds.

    A kind may be served after a pause; one that cannot be watched is asked for after another.
    """
    collection, _, name = path.rpartition("/")
    chosen = {"fieldSelector": f"metadata.name={name}"}
    answer = client.get(collection, params=chosen)
    if answer.status_code == httpx.codes.NOT_FOUND:
        yield None
        time.sleep(pause)
        return
    listed = answer.raise_for_status().json()
    kind = {"apiVersion": listed["apiVersion"], "kind": listed["kind"].removesuffix("List")}
    yield next((kind | item for item in listed["items"]), None)
    since = {"resourceVersion": listed["metadata"].get("resourceVersion", "")}
    watched = {"watch": "true", "timeoutSeconds": str(WATCHED_SECONDS), **chosen, **since}
    with client.stream("GET", collection, params=watched) as events:
        if events.status_code == httpx.codes.METHOD_NOT_ALLOWED:
            time.sleep(pause)
            return
        for line in events.raise_for_status().iter_lines():
            event = json.loads(line)
            if event["type"] == "ERROR":
                return
            yield None if event["type"] == "DELETED" else event["object"]
