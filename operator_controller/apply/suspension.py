"""Which extensions and object sets are suspended: watched and told, never written. Pure.

An annotation says so, and no field: that works under upstream's schema as well, and a repository
that applies the spec need not know of it.
"""

from dataclasses import dataclass

from api.objects import KubeObject, annotations_of, is_deleting
from api.olm.v1 import names

_OFF = "false"


@dataclass(frozen=True, slots=True)
class Suspension:
    """That an object is suspended, and why; empty if nobody said."""

    reason: str = ""

    @property
    def text(self) -> str:
        """In a line."""
        return f"suspended: {self.reason}" if self.reason else "suspended"


def suspension_of(obj: KubeObject) -> Suspension | None:
    """None for an object that is not suspended; one that is being deleted never is.

    Any value of the annotation but `false` counts: who writes `yes` does not want writes.
    """
    notes = annotations_of(obj)
    if is_deleting(obj) or notes.get(names.ANNOTATION_SUSPEND, _OFF) == _OFF:
        return None
    return Suspension(" ".join(notes.get(names.ANNOTATION_SUSPEND_REASON, "").split()))
