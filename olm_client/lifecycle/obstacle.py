"""What would stop an install, update or removal that is only planned so far. Pure."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from olm_client.paint import Paint, plain

UNSERVED = (
    "no permission helps: the cluster does not serve this kind in this version; take a version of "
    "the bundle that is made for this cluster"
)


class Obstacle(NamedTuple):
    """Something that would stop or delay it, and what to do about it."""

    message: str
    hint: str = ""


def obstacle_facts(found: Iterable[Obstacle]) -> list[dict[str, Any]]:
    """As data."""
    return [
        {"message": each.message, **({"hint": each.hint} if each.hint else {})} for each in found
    ]


def obstacle_lines(found: Iterable[Obstacle], paint: Paint = plain) -> Iterator[str]:
    """As text."""
    for each in found:
        yield paint("in the way: ", fg="red") + each.message
        yield from (f"  hint: {hint}" for hint in each.hint.splitlines())
