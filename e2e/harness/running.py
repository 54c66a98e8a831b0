"""What runs from the beginning of a `with` to its end."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Running(ABC):
    """Something that is started and stopped."""

    @abstractmethod
    def start(self) -> None:
        """Start; on failure nothing is left running. Errors: HarnessError."""

    @abstractmethod
    def stop(self) -> None:
        """Stop. Idempotent."""

    def __enter__(self) -> Self:
        """Start."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self.stop()
