"""Compares the CustomResourceDefinitions of a revision with those in the cluster."""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress

from api.objects import GVK, KubeObject, gvk_of, name_of
from olm_content.crds import Finding, check
from olm_content.crds.going import Going, in_order, removed, unknown, unserved
from olm_content.crds.stored import Question, questions, report_with_stored
from olm_rollout.adoption import Policy, is_refused
from olm_rollout.io.objects import collision
from olm_rollout.io.stored_objects import Bounds, count, examine
from olm_rollout.io.together import together
from olm_rollout.ownership import Owner
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ForbiddenError, NotFoundError

DEFINITION = GVK("apiextensions.k8s.io", "v1", "CustomResourceDefinition")

PARALLEL_COMPARISONS = 4
"""Live definitions held in memory at a time; they are up to a megabyte each."""


STORED_BOUNDS = Bounds(objects=500, seconds=10.0)
"""How far to examine stored objects for a condition; a command may examine more."""


async def unsafe_definitions(
    client: KubeClient,
    objects: Sequence[KubeObject],
    held: Iterable[KubeObject] = (),
    owner: Owner | None = None,
) -> str | None:
    """Why applying `objects` in place of `held` would endanger stored objects; None if it does not.

    Each definition among them is compared with the live one of its name, read as `client`; those
    that are new are safe. To remove a definition that `owner` controls is refused if objects are
    stored of it. Where a change is refused, the last lines say how many stored objects would be
    invalid. Raises ApiError naming the definition that could not be read.
    """
    comparison = _Comparison(client, owner)
    new = {name_of(obj): obj for obj in objects if gvk_of(obj) == DEFINITION}
    old = {name_of(obj) for obj in held if gvk_of(obj) == DEFINITION}
    await asyncio.gather(
        *map(comparison.compare, new.values()), *map(comparison.remove, old - new.keys())
    )
    lost = await count(client, in_order(comparison.going), STORED_BOUNDS.seconds)
    findings = [*comparison.findings, *lost]
    if not findings:
        return None
    asked = sorted(comparison.asked, key=_order)
    examined = await examine(client, asked, STORED_BOUNDS)
    return report_with_stored(findings, examined)


class _Comparison:
    """Live definitions compared with those that come, and what is to be asked about them."""

    def __init__(self, client: KubeClient, owner: Owner | None) -> None:
        self.client = client
        self.owner = owner
        self.findings: list[Finding] = []
        self.asked: list[Question] = []
        self.going: list[Going] = []
        self._slots = asyncio.Semaphore(PARALLEL_COMPARISONS)
        self._turn = asyncio.Lock()
        """More threads would be no faster, and the event loop would wait for all."""

    async def compare(self, new: KubeObject) -> None:
        """With the live definition of its name."""
        async with self._slots:
            live = await self.client.find(DEFINITION, name_of(new))
            if live is None:
                return
            async with self._turn:
                found = await asyncio.to_thread(check, live, new)
            self.findings += found
            self.asked += questions(live, new, found)
            self.going += unserved(live, new)

    async def remove(self, crd: str) -> None:
        """A definition that would be deleted, unless it is somebody else's by now."""
        async with self._slots:
            try:
                live = await self.client.find(DEFINITION, crd)
            except ForbiddenError as error:
                self.findings.append(unknown(crd, error.message))
                return
            if live is None or self.owner is None or not self.owner.controls(live):
                return
            if going := removed(live):
                self.going.append(going)


async def check_owners(client: KubeClient, objects: Sequence[KubeObject], owner: Owner) -> None:
    """Raises CollisionError for definitions that are not the owner's to have.

    Those that `client` may not read are left to the check of permissions.
    """
    slots = asyncio.Semaphore(PARALLEL_COMPARISONS)

    async def check_owner(new: KubeObject) -> None:
        async with slots:
            with suppress(ForbiddenError, NotFoundError):
                live = await client.get(DEFINITION, name_of(new), metadata_only=True)
                if is_refused(live, owner, Policy.PREVENT):
                    raise collision(live, owner)

    await together(check_owner(obj) for obj in objects if gvk_of(obj) == DEFINITION)


def _order(question: Question) -> tuple[str, str, str]:
    return question.crd, question.version, question.kind.version
