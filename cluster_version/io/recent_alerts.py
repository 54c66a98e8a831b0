"""The alerts of a metrics store, which is not asked for them again and again."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from olm_runtime.errors import OLMError

ALERTS_SECONDS = 60.0
"""For which an answer holds."""

Alerts = Sequence[dict[str, Any]]


@dataclass(slots=True)
class RecentAlerts:
    """Asks once in some seconds, whether that succeeds or not."""

    ask: Callable[[], Awaitable[Alerts]]
    seconds: float = ALERTS_SECONDS
    clock: Callable[[], float] = time.monotonic
    _found: Alerts = ()
    _error: OLMError | None = None
    _next: float | None = field(default=None)

    async def get(self) -> Alerts:
        """As they were some seconds ago, or later. Raises OLMError."""
        now = self.clock()
        if self._next is None or now >= self._next:
            self._next = now + self.seconds
            await self._refresh()
        if self._error is not None:
            raise self._error
        return self._found

    async def _refresh(self) -> None:
        try:
            self._found, self._error = await self.ask(), None
        except OLMError as error:
            self._error = error
