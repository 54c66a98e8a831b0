"""Requests to ask a registry at once: which is open, when it may be met, what its answer is. Pure.

`api.olm.v1.refresh` says how requests and answers are written.
"""

from dataclasses import dataclass

from api.conditions import Condition, ConditionStatus
from api.olm.v1.clustercatalog import ClusterCatalog
from api.olm.v1.conditions import ConditionType
from api.olm.v1.refresh import requested, said_of

REST_SECONDS = 10.0
"""Between two looks at a registry for requests: who sets the annotation cannot flood it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """When the registry was asked because of a request, by a steady clock, and for which object."""

    uid: str
    generation: int
    at: float

    def rest(self, catalog: ClusterCatalog, now: float) -> float:
        """Seconds until it may be asked again; none where the object asks for something else."""
        metadata = catalog.metadata
        if (self.uid, self.generation) != (metadata.uid, metadata.generation):
            return 0.0
        return max(0.0, self.at + REST_SECONDS - now)


def last_answer(catalog: ClusterCatalog) -> Condition | None:
    """What the status says of the request that there is now; None for nothing."""
    request = requested(catalog.metadata.annotations)
    for condition in catalog.status.conditions:
        if condition.type == ConditionType.REFRESHED:
            return None if said_of(request, condition.message) is None else condition
    return None


def open_request(catalog: ClusterCatalog) -> str:
    """The request that is not met yet; empty for none. One that failed is met once it succeeds."""
    answer = last_answer(catalog)
    if answer is not None and answer.status is ConditionStatus.TRUE:
        return ""
    return requested(catalog.metadata.annotations)
