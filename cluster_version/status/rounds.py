"""Failing and Progressing: what the rounds over a release have come to.

Source of the rules: upstream's notes, sections 11.3 and 11.4.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from api.conditions import ConditionStatus
from cluster_version.errors import Effect, UpdateError
from cluster_version.health.summaries import in_short, multiple, summarize, without
from olm_runtime.errors import OLMError

LATE, LATE_MACHINE_CONFIG = timedelta(minutes=30), timedelta(minutes=90)
PATIENCE = timedelta(minutes=40)
MACHINE_CONFIG = "machine-config"
SLOW = "SlowClusterOperator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """How far the rounds over a release are.

    version      what the release is called: its version, else its image
    begun        since when a ClusterOperator is waited for, by name
    is_invalid   whether the ClusterVersion is
    is_installed whether the release is in the history
    """

    version: str
    errors: Sequence[OLMError] = ()
    done: int = 0
    total: int = 0
    reconciling: bool = False
    begun: Mapping[str, datetime] = field(default_factory=dict)
    is_invalid: bool = False
    is_installed: bool = True


class ConditionState(NamedTuple):
    """A condition without its type and time."""

    status: ConditionStatus
    reason: str = ""
    message: str = ""


class _Waiting(NamedTuple):
    """What a failure of an update means.

    reason, message  for Progressing; empty where the failure itself says it
    goes_on          it is no failure yet
    is_slow          what is waited for takes longer than it should
    """

    reason: str = ""
    message: str = ""
    goes_on: bool = False
    is_slow: bool = False


def condition_states(
    rounds: Rounds, now: datetime, reason: str
) -> tuple[ConditionState, ConditionState]:
    """Failing and Progressing; `reason` is that of an invalid ClusterVersion."""
    failure = summarize(rounds.errors)
    failing, waiting = failure, _Waiting()
    if not rounds.reconciling and rounds.is_installed:
        waiting = _waiting(failure, rounds.begun, now)
        if isinstance(failure, UpdateError) and failure.is_multiple:
            failing = multiple(without(rounds.errors, Effect.NONE))
    return _failing(failing, waiting), _progressing(rounds, failure, waiting, reason)


def _failing(failure: OLMError | None, waiting: _Waiting) -> ConditionState:
    if failure is not None and waiting.is_slow:
        return ConditionState(ConditionStatus.UNKNOWN, SLOW, waiting.message)
    if failure is None or waiting.goes_on:
        return ConditionState(ConditionStatus.FALSE)
    return ConditionState(ConditionStatus.TRUE, _reason(failure), failure.message)


def _progressing(
    rounds: Rounds, failure: OLMError | None, waiting: _Waiting, reason: str
) -> ConditionState:
    version = rounds.version
    if failure is not None and not waiting.goes_on:
        problem = waiting.message or _short(failure)
        if rounds.reconciling:
            text = f"Error while reconciling {version}: {problem}"
            return ConditionState(ConditionStatus.FALSE, _reason(failure), text)
        text = f"Unable to apply {version}: {problem}"
        return ConditionState(ConditionStatus.TRUE, _reason(failure), text)
    if rounds.reconciling:
        text = f"Cluster version is {version}"
        if rounds.is_invalid:
            text = f"Stopped at {version}: the cluster version is invalid"
        return ConditionState(ConditionStatus.FALSE, reason, text)
    if rounds.is_invalid:
        text = f"Reconciling {version}: the cluster version is invalid"
        return ConditionState(ConditionStatus.TRUE, reason, text)
    done = _share(rounds.done, rounds.total)
    text = ", ".join(filter(None, (done, waiting.message)))
    towards = f"Working towards {version}"
    return ConditionState(
        ConditionStatus.TRUE, waiting.reason, f"{towards}: {text}" if text else towards
    )


def _reason(failure: OLMError) -> str:
    return failure.reason if isinstance(failure, UpdateError) else ""


def _short(failure: OLMError) -> str:
    if isinstance(failure, UpdateError):
        return in_short(failure.reason, failure.name)
    return "an error occurred"


def _share(done: int, total: int) -> str:
    """How much is done; per cent in the precision of upstream, cut off."""
    if not (done and total):
        return ""
    percent = int(_single(_single(done / total) * 100))
    return f"{done} of {total} done ({percent}% complete)"


def _single(number: float) -> float:
    """A number in single precision."""
    [rounded] = struct.unpack("f", struct.pack("f", number))
    return float(rounded)


def _waiting(failure: OLMError | None, begun: Mapping[str, datetime], now: datetime) -> _Waiting:
    if not isinstance(failure, UpdateError):
        return _Waiting()
    match failure.effect:
        case Effect.REPORT:
            return _Waiting(failure.reason, failure.message)
        case Effect.NONE:
            return _updating(failure, begun, now)
        case Effect.FAIL_AFTER_INTERVAL:
            return _degraded(failure, begun, now)
        case _:
            return _Waiting()


def _updating(failure: UpdateError, begun: Mapping[str, datetime], now: datetime) -> _Waiting:
    """One that nobody has looked at yet is not slow."""
    late = [name for name in failure.names if name in begun and now - begun[name] > _limit(name)]
    over = [_over(late, LATE), _over(late, LATE_MACHINE_CONFIG)]
    if not late:
        return _Waiting(failure.reason, f"waiting on {failure.name}", goes_on=True)
    text = f"waiting on {' and '.join(filter(None, over))} which is longer than expected"
    return _Waiting(failure.reason, text, goes_on=True, is_slow=True)


def _limit(name: str) -> timedelta:
    return LATE_MACHINE_CONFIG if name == MACHINE_CONFIG else LATE


def _over(names: Iterable[str], limit: timedelta) -> str:
    found = ", ".join(name for name in names if _limit(name) == limit)
    return f"{found} over {limit // timedelta(minutes=1)} minutes" if found else ""


def _degraded(failure: UpdateError, begun: Mapping[str, datetime], now: datetime) -> _Waiting:
    """One that nobody has looked at yet has been waited for long enough."""
    over = [name for name in failure.names if name not in begun or now - begun[name] > PATIENCE]
    minutes = PATIENCE // timedelta(minutes=1)
    if not over:
        text = f"waiting up to {minutes} minutes on {failure.name}"
        return _Waiting(failure.reason, text, goes_on=True)
    text = f"wait has exceeded {minutes} minutes for these operators: {', '.join(over)}"
    return _Waiting(failure.reason, text)
