"""Which pod serves a catalog, and what becomes of the others. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from api.objects import KubeObject
from olm_classic.catalog_sources.observed import created_at, has_ended, is_going, serving_pod

RESTART_AFTER = timedelta(seconds=10)
"""A pod that ended at once would end so again and again: it is made again after this time."""


@dataclass(frozen=True, slots=True)
class Serving:
    """What is to be done.

    pod     that serves; None where one is to be created
    delete  the pods that do not
    again   seconds until a pod may be created; None where it may now
    """

    pod: KubeObject | None
    delete: tuple[KubeObject, ...]
    again: float | None = None


def choose(pods: Sequence[KubeObject], wanted: KubeObject, now: datetime) -> Serving:
    """Of the pods that are labelled as a catalog's."""
    serving = serving_pod(pods, wanted)
    others = tuple(pod for pod in pods if pod is not serving and not is_going(pod))
    if serving is not None:
        return Serving(serving, others)
    ended = [created_at(pod) for pod in others if has_ended(pod)]
    due = max(ended, default=now - RESTART_AFTER) + RESTART_AFTER
    if due > now:
        return Serving(None, (), (due - now).total_seconds())
    return Serving(None, others)
