"""Whom to tell of what happens to a kind of objects."""

from collections.abc import Callable
from dataclasses import dataclass

from olm_shared.kube_object import KubeObject

Ring = Callable[[str, KubeObject], None]
"""Called in the subscriber's own loop: ADDED, MODIFIED, DELETED or "" (listed), and the object."""


@dataclass(frozen=True, slots=True)
class Bell:
    """One kind to watch cluster-wide, and whom to tell."""

    group: str
    version: str
    plural: str
    ring: Ring
