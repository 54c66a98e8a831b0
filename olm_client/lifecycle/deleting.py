"""Carries a removal out: first custom resources, then the extension, then its account."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from api.objects import (
    KubeObject,
    ObjectKey,
    condition,
    finalizers_of,
    is_deleting,
    key_of,
    metadata,
    name_of,
)
from api.olm.v1.conditions import ConditionType
from olm_client.display import Display
from olm_client.lifecycle.account_reading import NAMESPACE
from olm_client.lifecycle.account_removal import AccountRemoval
from olm_client.lifecycle.removal import Removal, next_to_delete
from olm_client.lifecycle.removing import preview_account
from olm_client.lifecycle.side_by_side import PARALLEL_REQUESTS
from olm_client.lifecycle.waiting import POLL_SECONDS, Wait
from olm_rollout.remains import obstacle
from olm_runtime.errors import OLMError, TerminalError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError, ConflictError

BLOCKERS = 3
"""Objects for which it is shown why they are still there; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How far it is: what is shown, what is said when the time is over, and what then helps."""

    lines: Sequence[str]
    message: str
    hint: str = ""


class Deletion:
    """Deletes what a removal names; to be made in the event loop, where its time begins."""

    def __init__(self, kube: KubeClient, removal: Removal, seconds: int, display: Display) -> None:
        self._kube = kube
        self._removal = removal
        self._name = name_of(removal.extension)
        self._seconds = seconds
        self._display = display
        self._slots = asyncio.Semaphore(PARALLEL_REQUESTS)
        self._clock = asyncio.get_running_loop().time
        self._begun = self._clock()
        self._seen: set[str] = set()
        self._left = [key_of(obj) for obj in removal.deleted]

    # Custom resources

    async def custom_resources(self) -> None:
        """Deletes all of the definitions that go, while their operator still runs, and waits.

        Raises OLMError, and the extension is then as it was.
        """
        await self._until_done(self._custom_resources)

    async def _custom_resources(self) -> Standing | None:
        lists = await asyncio.gather(
            *(
                self._kube.list_all(each.kind, metadata_only=True)
                for each in self._removal.instances
            )
        )
        left = [obj for found, _ in lists for obj in found]
        self._seen |= {str(metadata(obj)["uid"]) for obj in left}
        if not left:
            return None
        await asyncio.gather(*map(self._delete, next_to_delete(left)))
        return self._standing(left)

    def _standing(self, left: Sequence[KubeObject]) -> Standing:
        held = [obj for obj in left if is_deleting(obj) and finalizers_of(obj)] or list(left)
        texts = [_reason(obj) for obj in held[:BLOCKERS]]
        more = [f"and {len(held) - BLOCKERS} more"] if len(held) > BLOCKERS else []
        messages = [text.partition("\n")[0] for text in texts] + more + self._operator()
        gone, total = len(self._seen) - len(left), len(self._seen)
        return Standing(
            [f"{gone} of {total} custom resources are gone", *(f"  {each}" for each in messages)],
            f"{gone} of {total} custom resources are gone after {self._seconds} s, and "
            f"{self._name} is not deleted: its operator has to clear their finalizers:\n"
            + "\n".join(messages),
            "\n".join(text.partition("\nhint: ")[2] for text in texts).strip(),
        )

    def _operator(self) -> list[str]:
        """Whether the extension says that its operator does not work."""
        available = condition(self._removal.extension, ConditionType.AVAILABLE) or {}
        if available.get("status") != "False":
            return []
        return [f"{self._name} does not work: {available.get('message')}"]

    # The extension

    async def extension(self) -> None:
        """Asks for its deletion. Raises TerminalError."""
        try:
            await self._kube.delete(self._removal.extension, uid=self._uid)
        except ConflictError as error:
            raise TerminalError(
                f"{self._name} was made anew meanwhile", hint="run the command again"
            ) from error
        except ApiError as error:
            raise TerminalError(f"{self._name} was not deleted: {error.message}") from error

    async def until_gone(self) -> None:
        """Waits until the extension and its objects are gone. Raises OLMError."""
        spent = self._clock() - self._begun
        wait = Wait(
            self._kube, self._name, self._seconds, self._display, self._count_objects, spent
        )
        await wait.until_gone(self._uid)

    @property
    def _uid(self) -> str:
        return str(metadata(self._removal.extension)["uid"])

    async def _count_objects(self) -> list[str]:
        there = await asyncio.gather(*map(self._is_there, self._left))
        self._left = [key for key, found in zip(self._left, there, strict=True) if found]
        total = len(self._removal.deleted)
        return [f"{total - len(self._left)} of {total} objects are gone"] if total else []

    async def _is_there(self, key: ObjectKey) -> bool:
        async with self._slots:
            try:
                found = await self._kube.find(key.gvk, key.name, key.namespace, metadata_only=True)
            except ApiError:
                return True
        return found is not None

    # The account

    async def account(self) -> AccountRemoval:
        """Deletes what `olm install` wrote and nobody else needs by now; what became of it.

        Raises OLMError if the namespace does not go.
        """
        found = await preview_account(self._kube, self._removal)
        deleted, retained = [], list(found.retained)
        for obj in found.deleted:
            try:
                await self._kube.delete(obj, uid=str(metadata(obj)["uid"]))
            except ApiError as error:
                retained.append((obj, f"was not deleted: {error.message}"))
            else:
                deleted.append(obj)
        for obj in deleted:
            if obj["kind"] == NAMESPACE.kind:
                await self._until_done(partial(self._namespace, name_of(obj)))
        return AccountRemoval(deleted, retained, found.fault)

    async def _namespace(self, name: str) -> Standing | None:
        live = await self._kube.find(NAMESPACE, name)
        if live is None or not is_deleting(live):
            return None
        text, _, hint = obstacle(live).partition("\nhint: ")
        return Standing([text], f"{self._name} is gone after {self._seconds} s, but {text}", hint)

    # Both

    async def _delete(self, obj: KubeObject) -> None:
        async with self._slots:
            try:
                await self._kube.delete(obj, uid=str(metadata(obj)["uid"]))
            except ConflictError:
                return  # made anew: it is seen the next time
            except ApiError as error:
                if error.may_pass:
                    return
                raise TerminalError(f"{key_of(obj)} was not deleted: {error.message}") from error

    async def _until_done(self, look: Callable[[], Awaitable[Standing | None]]) -> None:
        """Looks again and again until there is nothing to show. Raises OLMError.

        The last look begins when the time is over: the first one asks for deletions.
        """
        try:
            while True:
                seconds = self._clock() - self._begun
                try:
                    found = await look()
                except ApiError as error:
                    if not error.may_pass:
                        raise
                    found = Standing([error.message], error.message, error.hint)
                if found is None:
                    return
                if seconds > self._seconds:
                    raise OLMError(found.message, hint=found.hint)
                self._display.show(found.lines, seconds=seconds)
                await asyncio.sleep(POLL_SECONDS)
        finally:
            self._display.end()


def _reason(obj: KubeObject) -> str:
    """Why a custom resource is still there."""
    if is_deleting(obj):
        return obstacle(obj)
    return f"{key_of(obj)} goes when what owns it is gone"
