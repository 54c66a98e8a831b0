"""Pools: what their nodes shall be, which nodes are theirs, how many may be unavailable at once."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api import wire
from api.metadata import LabelSelector
from api.objects import KubeObject, labels_of, name_of
from cluster_version.nodes.names import MASTER, ROLE_LABELS, WORKER
from olm_content.selectors import SelectorError, check, selects

HASH_LENGTH = 32
_PERCENTAGE = re.compile(r"^[0-9]+%$")


class PoolError(ValueError):
    """A pool of which something cannot be understood; `reason` is one word for conditions."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Target:
    """What the nodes of a pool shall be: a name, and what is run on a node to bring it there."""

    name: str
    image: str
    command: tuple[str, ...] = ()


def target_of(pool: KubeObject) -> Target | None:
    """The target of a pool; None for one without an image, whose nodes are somebody else's."""
    said = (pool.get("spec") or {}).get("configuration") or {}
    image, command = said.get("image") or "", tuple(said.get("command") or ())
    if not image:
        return None
    name = said.get("name") or f"rendered-{name_of(pool)}-{_sum(image, command)}"
    return Target(name, image, command)


def _sum(image: str, command: Sequence[str]) -> str:
    return hashlib.sha256("\0".join((image, *command)).encode()).hexdigest()[:HASH_LENGTH]


def is_paused(pool: KubeObject) -> bool:
    """Whether no further node may be begun with."""
    return bool((pool.get("spec") or {}).get("paused"))


def max_unavailable(pool: KubeObject, nodes: Sequence[KubeObject]) -> int:
    """How many of the nodes may be unavailable at once, for whatever reason; at least one.

    Of nodes of the control plane a majority stays, whatever the pool says. Raises PoolError.
    """
    said = (pool.get("spec") or {}).get("maxUnavailable")
    wished = max(1, _scaled(1 if said is None else said, len(nodes)))
    of_control_plane = sum(is_of_control_plane(node) for node in nodes)
    return max(1, min(wished, (of_control_plane - 1) // 2)) if of_control_plane else wished


def _scaled(said: Any, total: int) -> int:
    """A number, or a percentage of the total rounded down."""
    if isinstance(said, int):
        return said
    if isinstance(said, str) and _PERCENTAGE.match(said):
        return int(said[:-1]) * total // 100
    raise PoolError(
        "InvalidMaxUnavailable", f"spec.maxUnavailable is neither a number nor a percentage: {said}"
    )


def is_of_control_plane(node: KubeObject) -> bool:
    """Whether a node runs the control plane, by its role."""
    return any(label in labels_of(node) for label in ROLE_LABELS)


def _selector_of(pool: KubeObject) -> LabelSelector | None:
    """What selects a pool's nodes. Raises PoolError for a selector that means nothing.

    An empty selector selects nothing, as no pool is made to take every node: it is None.
    """
    said = (pool.get("spec") or {}).get("nodeSelector")
    if not said:
        return None
    try:
        selector = wire.read(LabelSelector, said)
        check(selector)
    except (wire.InvalidObjectError, SelectorError) as error:
        raise PoolError("InvalidNodeSelector", f"spec.nodeSelector: {error}") from error
    return selector


def _meets(node: KubeObject, selector: LabelSelector | None) -> bool:
    return selector is not None and selects(selector, labels_of(node))


def members(
    pool: KubeObject, pools: Sequence[KubeObject], nodes: Sequence[KubeObject]
) -> list[KubeObject]:
    """The nodes of a pool, where several select one: master goes first, worker last.

    Raises PoolError where two others select the same node, for it is not known whose it is.
    """
    own = _selector_of(pool)
    selected = [node for node in nodes if _meets(node, own)]
    selectors = {name_of(each): _understood(each) for each in pools} if selected else {}
    return [node for node in selected if _has(pool, selectors, node)]


def is_in_no_pool(node: KubeObject, pools: Sequence[KubeObject]) -> bool:
    """Whether no pool selects a node. One whose selector means nothing might."""
    try:
        return not any(_meets(node, _selector_of(pool)) for pool in pools)
    except PoolError:
        return False


def _has(pool: KubeObject, selectors: Mapping[str, LabelSelector | None], node: KubeObject) -> bool:
    selecting = sorted(name for name, selector in selectors.items() if _meets(node, selector))
    if MASTER in selecting:
        return name_of(pool) == MASTER
    others = [name for name in selecting if name != WORKER]
    if len(others) > 1 and name_of(pool) in others:
        raise PoolError(
            "NodeInSeveralPools",
            f"node {name_of(node)} is selected by the pools {', '.join(others)}",
        )
    return name_of(pool) in others if others else name_of(pool) == WORKER


def _understood(pool: KubeObject) -> LabelSelector | None:
    """What selects a pool's nodes; what another pool says wrong is that one's to report."""
    try:
        return _selector_of(pool)
    except PoolError:
        return None
