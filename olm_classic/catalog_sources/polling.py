"""When an image is looked at again, and what becomes of the pod that looks. Pure.

Nobody asks the registry: a second pod is started with the pull policy Always. When it is ready and
runs another image than the pod that serves, it takes that pod's place, else it goes.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from api.objects import KubeObject, labels_of
from api.operators.v1alpha1.catalogsource import CatalogSourceSpec
from olm_classic.catalog_sources.labels import LABEL_POD_HASH
from olm_classic.catalog_sources.observed import (
    created_at,
    failure_of,
    image_id,
    is_going,
    is_ready,
)
from olm_classic.catalog_sources.validation import is_image
from olm_content.formats.go_text import quote
from olm_rollout.pods import reason_of

DEFAULT_INTERVAL = timedelta(minutes=15)
SHORTEST_INTERVAL = timedelta(seconds=1)
LOOK_AGAIN_SECONDS = 30.0
"""A pod that reports no change is looked at this often."""
PATIENCE = timedelta(minutes=10)
"""A pod that is not ready by then will not be: no node has room for it, or it does not answer."""
NOT_READY = "it was not ready within 10 minutes"
_PART = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)([^0-9.]*)")
_LONGEST_SECONDS = 2**63 / 1e9
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3}
_SECONDS |= {"s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True)
class Interval:
    """How often an image is looked at. With `problem` it is the default, for the text is wrong."""

    every: timedelta
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Poll:
    """What is to be done.

    start    whether to start an update pod
    promote  the update pod that shall serve
    delete   update pods to delete
    failure  of an update pod that is deleted
    again    when to look again, in seconds; None to wait for events alone
    """

    start: bool = False
    promote: KubeObject | None = None
    delete: tuple[KubeObject, ...] = ()
    failure: str = ""
    again: float | None = None


def interval_of(spec: CatalogSourceSpec) -> Interval | None:
    """How often the image of a catalog is looked at; None for never."""
    strategy = spec.update_strategy
    if not is_image(spec) or strategy is None or strategy.registry_poll is None:
        return None
    text = strategy.registry_poll.interval
    try:
        return Interval(max(_duration(text), SHORTEST_INTERVAL))
    except ValueError as error:
        return Interval(
            DEFAULT_INTERVAL,
            "error parsing spec.updateStrategy.registryPoll.interval. Using the default value of"
            f" 15m0s instead. Error: {error}",
        )


def poll(
    serving: KubeObject,
    updates: Sequence[KubeObject],
    *,
    container: str,
    every: timedelta,
    last: datetime | None,
    now: datetime,
) -> Poll:
    """What to do about a catalog that is served.

    updates    its update pods
    container  whose image is compared
    last       when the image was last looked at; None for never
    """
    live = [pod for pod in updates if not is_going(pod)]
    if not live:
        due = (last or created_at(serving)) + every
        if now >= due:
            return Poll(start=True, again=LOOK_AGAIN_SECONDS)
        return Poll(again=(due - now).total_seconds())
    pod, *others = sorted(live, key=created_at, reverse=True)
    wanted = labels_of(serving).get(LABEL_POD_HASH)
    if labels_of(pod).get(LABEL_POD_HASH) != wanted:
        return Poll(delete=tuple(live))
    failure = failure_of(pod)
    if failure:
        return Poll(delete=tuple(live), failure=failure)
    if not is_ready(pod):
        if now - created_at(pod) > PATIENCE:
            return Poll(delete=tuple(live), failure=reason_of([pod]) or NOT_READY)
        return Poll(delete=tuple(others), again=LOOK_AGAIN_SECONDS)
    if image_id(pod, container) == image_id(serving, container):
        return Poll(delete=tuple(live))
    return Poll(promote=pod, delete=tuple(others))


def _duration(text: str) -> timedelta:
    """A duration as Go reads it. Raises ValueError with Go's words."""
    sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if rest == "0":
        return timedelta()
    seconds, position = 0.0, 0
    while position < len(rest) or not rest:
        found = _PART.match(rest, position)
        if found is None:
            raise ValueError(f"time: invalid duration {quote(text)}")
        number, unit = found.groups()
        if unit not in _SECONDS:
            what = f"unknown unit {quote(unit)} in" if unit else "missing unit in"
            raise ValueError(f"time: {what} duration {quote(text)}")
        seconds += float(number) * _SECONDS[unit]
        position = found.end()
    if seconds > _LONGEST_SECONDS:
        raise ValueError(f"time: invalid duration {quote(text)}")
    return sign * timedelta(seconds=seconds)
