"""What the controller of ClusterObjectSets remembers of one revision between reconciles."""

from dataclasses import dataclass, field

from olm_rollout.io.probing import Probed
from olm_rollout.io.rollout import Applied
from olm_rollout.io.stale_webhooks import Refusal
from olm_rollout.io.teardown import Removal
from operator_controller.apply.revisions import Age


@dataclass(slots=True)
class Memory:
    """Of the revision with this uid; all of it can be lost, and is found out again.

    `applied`, `probed`, `removal` and `refusal` are written by the modules that they come from.
    `paused`: the monotonic second of the last reconcile of a revision that is to be replaced.
    `owner_deleted`: its owner is gone, or deleted together with its objects, so that there is no
    way back.
    """

    uid: str
    applied: Applied = field(default_factory=Applied)
    probed: Probed = field(default_factory=Probed)
    removal: Removal = field(default_factory=Removal)
    refusal: Refusal = field(default_factory=Refusal)
    age: Age | None = None
    paused: float | None = None
    owner_deleted: bool = False

    def pause(self, seconds: float, now: float) -> float:
        """Seconds until the next reconcile of one that is to be replaced, or 0 for now."""
        if self.paused is None:
            self.paused = now
        left = seconds - (now - self.paused)
        if left <= 0:
            self.paused = now
        return max(0.0, left)
