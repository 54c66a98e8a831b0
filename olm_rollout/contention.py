"""Objects that others take over again and again: counted, backed off from, and reported.

What somebody changes once is changed back at once. Against a program that sets a field of ours
whenever we set it we would write for ever, so after FREE_TAKEOVERS each restoring waits longer
than the one before.
"""

from dataclasses import dataclass

from api.objects import ObjectKey
from olm_rollout.managed_fields import MAX_FIELDS, Held

FREE_TAKEOVERS = 5
"""So many are restored at once, and are no contention yet."""
FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 120.0
PEACE_SECONDS = 300.0
"""When nobody took anything for so long after it was restored, it is forgotten."""
DELETED = Held("", "")
"""The object itself."""


@dataclass(frozen=True, slots=True)
class Contention:
    """How often an object was taken over in a row, when last (monotonic seconds), and what."""

    takeovers: int
    last: float
    taken: frozenset[Held]

    @property
    def is_reported(self) -> bool:
        """Whether it is more than somebody who changed something."""
        return self.takeovers > FREE_TAKEOVERS

    @property
    def pause(self) -> float:
        """How long the object is left alone after it was taken over last."""
        if not self.is_reported:
            return 0.0
        doublings = min(self.takeovers - FREE_TAKEOVERS - 1, 30)
        return min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0**doublings)

    @property
    def paused_until(self) -> float:
        """From when on it may be restored again."""
        return self.last + self.pause

    def pause_left(self, now: float) -> float:
        """Seconds until it may be restored again."""
        return max(0.0, self.paused_until - now)

    def seconds_left(self, now: float) -> float:
        """Seconds until it is over, if nothing happens until then."""
        return max(0.0, self.paused_until + PEACE_SECONDS - now)

    def due(self, looked: float) -> float:
        """The moment of the next reconcile for it: to restore the object, or to report the end.

        `looked`: the moment by which it was decided last whether to restore it. By a later one the
        pause may be over though the object was left alone because of it.
        """
        return self.paused_until + (0.0 if looked < self.paused_until else PEACE_SECONDS)


def after(known: Contention | None, taken: frozenset[Held], now: float) -> Contention:
    """The contention for an object that was taken over once more, and restored."""
    if known is None or not known.seconds_left(now):
        return Contention(1, now, taken)
    return Contention(known.takeovers + 1, now, known.taken | taken)


def message_of(key: ObjectKey, contention: Contention, subject: str) -> str:
    """For a condition: the same as long as nobody else joins in. `subject` owns the object."""
    lines = [_sentence(held) for held in sorted(contention.taken)]
    shown = lines[:MAX_FIELDS]
    if len(lines) > MAX_FIELDS:
        shown.append(f"and {len(lines) - MAX_FIELDS} more")
    return (
        f"{key}: {'; '.join(shown)}. It is restored every {LONGEST_PAUSE_SECONDS:.0f} s at most\n"
        f"hint: have that program leave alone what this {subject} sets, or stop it"
    )


def _sentence(held: Held) -> str:
    if held == DELETED:
        return "somebody keeps deleting it"
    if not held.manager:
        return f"somebody keeps removing {held.field}"
    return f'field manager "{held.manager}" keeps setting {held.field}'
