"""Which extensions and object sets are suspended: watched and reported, never written. Pure.

An annotation says so, and no field: that works under upstream's schema as well, and a repository
that applies the spec need not know of it.
"""

from collections.abc import Mapping
from typing import NamedTuple

from api.objects import KubeObject, annotations_of, is_deleting
from api.olm.v1 import names

_OFF = "false"


class Suspension(NamedTuple):
    """That an object is suspended, and why; empty if nobody said."""

    reason: str = ""

    @property
    def text(self) -> str:
        """In a line."""
        return f"suspended: {self.reason}" if self.reason else "suspended"


def suspension_of(obj: KubeObject) -> Suspension | None:
    """None for an object that is not suspended; one that is being deleted never is."""
    return None if is_deleting(obj) else suspension_in(annotations_of(obj))


def suspension_in(annotations: Mapping[str, str]) -> Suspension | None:
    """That which annotations say.

    Any value but `false` counts: who writes `yes` does not want writes.
    """
    if annotations.get(names.ANNOTATION_SUSPEND, _OFF) == _OFF:
        return None
    return Suspension(" ".join(annotations.get(names.ANNOTATION_SUSPEND_REASON, "").split()))


def way_on(extension: str) -> str:
    """The hint where an extension is suspended."""
    return f"to go on: olm resume {extension}"
