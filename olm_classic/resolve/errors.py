"""How a resolution fails, and the time it may take."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from olm_runtime.errors import TerminalError


class ResolutionError(TerminalError):
    """What keeps a namespace from being resolved: condition reason `ErrorPreventedResolution`.

    `bundle` is the id of the one whose requirement cannot be read; empty for other causes.
    """

    bundle = ""


class UnsatisfiableError(ResolutionError):
    """No choice meets all constraints: condition reason `ConstraintsNotSatisfiable`.

    `texts` are those of constraints that contradict one another.
    """

    def __init__(self, texts: Iterable[str], *, hint: str = "") -> None:
        self.texts = tuple(sorted(texts))
        super().__init__(f"constraints not satisfiable: {', '.join(self.texts)}", hint=hint)


class LimitError(ResolutionError):
    """A resolution that takes too long, or asks for too much."""


@dataclass(frozen=True, slots=True)
class Limit:
    """Bounds of one resolution: `seconds` from now on, and `variables` in question.

    `clock` gives seconds and never goes back.
    """

    clock: Callable[[], float]
    seconds: float = 10.0
    variables: int = 50_000
    started: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "started", self.clock())

    def check(self, variables: int = 0) -> None:
        """Raises LimitError when a bound is passed."""
        if variables > self.variables:
            raise LimitError(f"resolution has more than {self.variables} bundles in question")
        if self.clock() - self.started > self.seconds:
            raise LimitError(f"resolution took longer than {self.seconds:g} seconds")
