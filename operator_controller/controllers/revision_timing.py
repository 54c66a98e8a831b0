"""When a revision is overdue, and how long it is left alone."""

from dataclasses import dataclass
from datetime import datetime

from operator_controller.apply.revisions import Age, Revision, age_of, seconds_left

SUPERSEDED_SECONDS = 5.0
FIRST_LOOK_SECONDS = 20.0
"""Until then most are replaced, also where hundreds are at once."""


@dataclass(slots=True)
class Timing:
    """Of one revision. Moments of `monotonic` are seconds; `now` is the wall clock.

    `next_look`: the moment of the next reconcile of a revision that is to be replaced.
    """

    age: Age | None = None
    next_look: float | None = None

    def seconds_left(self, revision: Revision, now: datetime, monotonic: float) -> float | None:
        """Until the revision must have rolled out; None where no deadline counts."""
        if self.age is None:
            self.age = age_of(revision, now, monotonic)
        return seconds_left(revision, self.age.at(monotonic))

    def pause(self, revision: Revision, monotonic: float, *, superseded: bool) -> float:
        """Seconds to leave a revision alone that a newer one is about to replace.

        Each object that the newer one takes over enqueues the older one too. It has nothing to do
        with them, and only looks from time to time whether one that it alone has is missing; not
        at once, because its look would be for nothing, and its status be refused, if it is archived
        meanwhile. One that never rolled out has nothing to look
        after: its extension is about to archive it.
        """
        if not superseded:
            self.next_look = None
            return 0.0
        if not revision.succeeded:
            return SUPERSEDED_SECONDS
        if self.next_look is None:
            self.next_look = monotonic + FIRST_LOOK_SECONDS
        left = self.next_look - monotonic
        if left <= 0:
            self.next_look = monotonic + SUPERSEDED_SECONDS
        return max(0.0, left)
