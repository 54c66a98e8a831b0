"""How far a rollout got."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """What one pass over the phases found.

    `complete`: every phase is applied. `waiting`: what the next phase waits for. `unhealthy`:
    objects that do not work although nothing waits for them. `degraded`: watches that do not run.
    `contended`: objects that others take over again and again, and seconds until the next
    reconcile for one of them. `drifted`: what differs from what was applied, and is left so.
    """

    complete: bool = False
    waiting: tuple[str, ...] = ()
    unhealthy: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    contended: tuple[str, ...] = ()
    contended_seconds: float | None = None
    drifted: tuple[str, ...] = ()
