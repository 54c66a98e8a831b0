"""Answers to pages that get themselves anew: one for all tabs of a session that show the same.

When something changed, all of them ask at once. What is cached of an answer is of one session, so
of one user, and counts until the next change is told.
"""

import asyncio
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from starlette.requests import Request

from console.changes import Changes
from olm_runtime.http.asgi import Asgi, Receive, Scope, Send

MAX_PAGES = 16
"""Different pages that are open in a browser; more are made for each tab."""

Message = MutableMapping[str, Any]


@dataclass(slots=True)
class _Answer:
    """What was sent, and how many changes there were when it began to be made."""

    count: int = -1
    messages: list[Message] = field(default_factory=list)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Reloads:
    """The pages of a session."""

    def __init__(self) -> None:
        self._answers: dict[str, _Answer] = {}

    async def serve(
        self, app: Asgi, changes: Changes, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Answers as the application has answered since the last change was told, or does now."""
        answer = self._answer(_key(scope), changes)
        messages = answer.messages
        if answer.count < changes.told:
            async with answer.lock:
                messages = await _made(answer, app, changes, scope, receive)
        for message in messages:
            await send({**message})

    def _answer(self, key: str, changes: Changes) -> _Answer:
        found = self._answers.get(key)
        if found is None:
            used = {
                url: each
                for url, each in self._answers.items()
                if each.count >= changes.told or each.lock.locked()
            }
            found = _Answer()
            self._answers = {**used, key: found} if len(used) < MAX_PAGES else used
        return found


async def _made(
    answer: _Answer, app: Asgi, changes: Changes, scope: Scope, receive: Receive
) -> list[Message]:
    """What the application answers, unless somebody else has just got that."""
    if answer.count >= changes.told:
        return answer.messages
    messages: list[Message] = []
    count = changes.count

    async def record(message: Message) -> None:
        messages.append(message)

    await app(scope, receive, record)
    if messages[0]["status"] == HTTPStatus.OK:  # what failed is tried anew
        answer.count, answer.messages = count, messages
    return messages


def is_reload(request: Request) -> bool:
    """Whether a page gets itself anew, rather than somebody asking for it."""
    return request.method == "GET" and request.headers.get("HX-Trigger") == "content"


def _key(scope: Scope) -> str:
    encoding = next((value for name, value in scope["headers"] if name == b"accept-encoding"), b"")
    return f"{scope['path']}?{scope['query_string'].decode()} {encoding.decode('latin-1')}"
