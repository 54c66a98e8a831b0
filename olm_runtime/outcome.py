"""How a reconcile ended, as a type the loop can act on without reading messages."""

from dataclasses import dataclass

from olm_runtime.errors import OLMError, TerminalError, TransientError, WaitingError


@dataclass(frozen=True, slots=True)
class Done:
    """Desired state reached. Looked at again after `requeue_after` seconds, if given."""

    requeue_after: float | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing is wrong; look again after `seconds`."""

    seconds: float
    message: str = ""


@dataclass(frozen=True, slots=True)
class Retry:
    """Failed in a way that may pass: try again with back-off, but `within` so many seconds.

    In any case not before `after` seconds.
    """

    message: str
    within: float | None = None
    after: float = 0.0


@dataclass(frozen=True, slots=True)
class Blocked:
    """Failed until a person acts; the next event on the object tries again."""

    reason: str
    message: str


Failed = Wait | Retry | Blocked
"""How a reconcile may end that raised an error."""
Outcome = Done | Failed


def outcome_of(error: OLMError) -> Failed:
    """The outcome that an error stands for."""
    match error:
        case TerminalError():
            return Blocked(error.reason, error.describe())
        case WaitingError():
            return Wait(error.seconds, error.describe())
        case TransientError():
            return Retry(error.describe(), error.within, error.after)
        case _:
            return Retry(error.describe())
