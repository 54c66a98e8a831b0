"""Brings a release from its image to being accepted. The release that is applied is not touched.

Source of the rules: upstream's notes, sections 5.2 and 5.3.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Protocol

from api.objects import KubeObject
from cluster_version.decisions.acceptance import (
    Acceptance,
    Event,
    Progress,
    Retrieved,
    begun,
    judged,
    loading,
    not_loaded,
    not_retrieved,
)
from cluster_version.decisions.target import Target
from cluster_version.payload.contents import Payload
from cluster_version.payload.release import ReleaseError
from olm_runtime.errors import OLMError, TransientError

LIMIT_SECONDS = 240.0
"""For verifying and retrieving an image together."""


class Source(Protocol):
    """Where release images come from."""

    async def retrieve(self, target: Target) -> tuple[Path, Retrieved]:
        """The folder with the content of an image, verified. Raises OLMError."""


Load = Callable[[Path, str], Awaitable[Payload]]
"""Reads the content of a release image in a folder, by its pull spec. Raises ReleaseError."""


class ReleaseLoader:
    """Loads one release at a time, and says how far it is."""

    def __init__(
        self,
        source: Source,
        load: Load,
        *,
        cluster_version: Callable[[], KubeObject | None],
        announce: Callable[[Iterable[Event]], None],
        notify: Callable[[], None],
    ) -> None:
        """`cluster_version` reads it as it is then; `notify` is called at each step."""
        self._source = source
        self._load = load
        self._cluster_version = cluster_version
        self._announce = announce
        self._notify = notify
        self.acceptance: Acceptance | None = None

    async def load(self, target: Target) -> Payload | None:
        """The release of a target if it is accepted; in any case `acceptance` says how it went."""
        self.report(begun(target))
        try:
            async with asyncio.timeout(LIMIT_SECONDS):
                folder, retrieved = await self._source.retrieve(target)
        except TimeoutError:
            late = TransientError(f"it took more than {LIMIT_SECONDS:.0f} s")
            self.report(not_retrieved(target, late.message))
            return None
        except OLMError as error:
            self.report(not_retrieved(target, error.message, _causes(error)))
            return None
        self._announce(loading(target, retrieved))
        try:
            payload = await self._load(folder, target.image)
        except ReleaseError as error:
            self.report(not_loaded(target, retrieved, error.message))
            return None
        found = judged(target, retrieved, payload, self._cluster_version())
        self.report(found)
        return payload if found.acceptance.is_accepted else None

    def report(self, progress: Progress) -> Acceptance:
        """Records a step, and announces its Events."""
        self.acceptance = progress.acceptance
        self._announce(progress.events)
        self._notify()
        return progress.acceptance


def _causes(error: BaseException) -> list[str]:
    """The messages of what an error came from."""
    found: list[str] = []
    while (cause := error.__cause__) is not None:
        found.append(str(cause))
        error = cause
    return found
