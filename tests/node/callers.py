"""Users who call the API server again and again, and note each call that fails.

As all clients of Kubernetes they ask again where the API server says when: so it does for a moment
after a definition has changed.
"""

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

import httpx

Call = Callable[[], httpx.Response]

PAUSE_SECONDS = 0.05


class Caller:
    """Makes a call again and again from a thread while it is open."""

    def __init__(self, call: Call, why: Callable[[], str] = str) -> None:
        """`why` is asked at each call that fails."""
        self._call = call
        self._why = why
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.answered = 0
        self.failures: list[str] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(PAUSE_SECONDS):
            try:
                answer = self._call()
            except httpx.HTTPError as error:
                self.failures.append(f"{time.strftime('%X')} {error!r}")
                continue
            if after := answer.headers.get("Retry-After"):
                self._stop.wait(float(after))
            elif answer.is_success:
                self.answered += 1
            else:
                said = f"{answer.status_code} {answer.text} {self._why()}"
                self.failures.append(f"{time.strftime('%X')} {said}")
