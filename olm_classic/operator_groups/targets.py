"""The namespaces that an OperatorGroup selects."""

from collections.abc import Iterable, Sequence

from olm_classic.names import ALL_NAMESPACES


def as_annotation(namespaces: Iterable[str]) -> str:
    """The text of an `olm.targetNamespaces` annotation; empty for all namespaces."""
    return ",".join(sorted(namespaces))


def from_annotation(annotation: str) -> list[str]:
    """The namespaces of the annotation: an empty one is the list with all namespaces."""
    return annotation.split(",")


def target_set(own_namespace: str, selected: Sequence[str]) -> frozenset[str]:
    """The namespaces in which the group's operators compete with those of other groups.

    Its own is among them unless it selects all namespaces, or none yet.
    """
    if not selected or selected[0] == ALL_NAMESPACES:
        return frozenset(selected)
    return frozenset((*selected, own_namespace))


def intersect(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two target sets share a namespace; all namespaces meet every set but the empty."""
    everything = frozenset({ALL_NAMESPACES})
    if everything in (one, other):
        return bool(one and other)
    return not one.isdisjoint(other)
