"""What catalog-operator counts. Pure; `exposition` makes families of metrics of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from api.objects import GVK
from olm_runtime.metrics.queue_meter import Queue


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """Present values.

    objects  how many there are of a kind
    queues   by the controller's name
    answers  of the API server, by method and code
    lease    the name of the lease; `leading` whether this process holds it
    now      on the clock of the queues, in seconds
    """

    objects: Mapping[GVK, int] = field(default_factory=dict)
    queues: Mapping[str, Queue] = field(default_factory=dict)
    answers: Mapping[tuple[str, str], int] = field(default_factory=dict)
    lease: str = ""
    leading: bool = False
    now: float = 0.0
