"""The parts of the console, of which each cluster has those whose kinds it serves."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from api.objects import GVK
from api.olm.v1.kinds import CATALOG, EXTENSION
from api.openshift.config.v1.kinds import CLUSTER_VERSION
from console.users import User
from olm_classic.kinds import SUBSCRIPTION


@dataclass(frozen=True, slots=True)
class Part:
    """A part in the navigation; `kind` is what a cluster must serve, None for none."""

    title: str
    path: str
    kind: GVK | None = None


PARTS = (
    Part("Overview", "/"),
    Part("Packages", "/packages", CATALOG),
    Part("Extensions", "/extensions", EXTENSION),
    Part("Catalogs", "/catalogs", CATALOG),
    Part("OLM Classic", "/classic", SUBSCRIPTION),
    Part("Cluster", "/cluster", CLUSTER_VERSION),
    Part("Doctor", "/doctor"),
)


def is_offered(path: str, parts: Sequence[Part]) -> bool:
    """Whether a path is of one of these parts, or of none."""
    own = (each for each in PARTS if path == each.path or path.startswith(f"{each.path}/"))
    return all(each in parts for each in own)


async def parts_for(user: User) -> Sequence[Part]:
    """Those that the user's cluster has."""

    async def has(part: Part) -> bool:
        return part.kind is None or await user.serves(part.kind)

    answers = await asyncio.gather(*map(has, PARTS))
    return [part for part, answer in zip(PARTS, answers, strict=True) if answer]
