"""Waiting for the API server: one error of it is no reason to end a program."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from api.objects import GVK
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.discovery import Resource
from olm_runtime.kube.errors import ApiError

POLL_SECONDS = 0.5

T = TypeVar("T")

log = logging.getLogger(__name__)


async def wait_until_served(client: KubeClient, kind: GVK) -> Resource:
    """Where a kind is served, once it is: kopf does not notice one that comes later."""
    return await until_answered("waiting for the API", lambda: client.resource(kind))


async def until_answered(what: str, ask: Callable[[], Awaitable[T]]) -> T:
    """What the API server answers in the end; each new error is logged once."""
    logged = ""
    while True:
        try:
            return await ask()
        except ApiError as error:
            if error.message != logged:
                log.warning("%s: %s", what, error)
            logged = error.message
            await asyncio.sleep(POLL_SECONDS)
