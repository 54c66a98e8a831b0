"""Waits for catalogs and shows their progress."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from api.objects import KubeObject, condition, is_true, metadata, name_of
from api.olm.v1.conditions import ConditionType
from olm_client.cluster_catalogs.reading import read_catalogs
from olm_client.display import Display
from olm_client.lifecycle.overview import Phase, State, catalog_state, is_current
from olm_client.lifecycle.waiting import POLL_SECONDS
from olm_runtime.errors import OLMError, TerminalError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError

Found = dict[str, KubeObject]
"""Catalogs by name."""


@dataclass(frozen=True, slots=True)
class CatalogWait:
    """How to wait: for which catalogs, how long at most, and where it is shown.

    `doing` is shown of those with nothing to say, `hint` is what to do when the time is over.
    """

    kube: KubeClient
    names: Sequence[str]
    seconds: int
    display: Display
    doing: str = ""
    hint: str = "it is still tried; look again: olm catalog list"

    async def until_served(self) -> Found:
        """The catalogs once all are served as they are asked for.

        Raises OLMError: at once where only a person can help, else when the time is over.
        """
        return await self.until_all(_is_served, "not served")

    async def until_off(self) -> Found:
        """The catalogs once none is served any more. Raises OLMError."""
        return await self.until_all(_is_off, "still served")

    async def until_gone(self, uid: str) -> None:
        """Returns when the catalog of this uid is there no more. Raises OLMError."""
        await self._until(lambda raw: raw is None or metadata(raw).get("uid") != uid, "not gone")

    async def until_all(self, done: Callable[[KubeObject], bool], not_yet: str) -> Found:
        """The catalogs as soon as all are done; `not_yet` is what a timeout reports.

        Raises OLMError, also what `done` raises, and where one is deleted.
        """

        def holds(raw: KubeObject | None) -> bool:
            if raw is None:
                raise TerminalError("a catalog was deleted meanwhile", hint="olm catalog list")
            return done(raw)

        return await self._until(holds, not_yet)

    async def _until(self, done: Callable[[KubeObject | None], bool], not_yet: str) -> Found:
        clock = asyncio.get_running_loop().time
        begun, left = clock(), list(self.names)
        found: Mapping[str, KubeObject] = {}
        try:
            async with asyncio.timeout(self.seconds):
                while True:
                    found, fault = await self._read(found)
                    left = left if fault else [n for n in left if not done(found.get(n))]
                    if not left:
                        return {name: found[name] for name in self.names if name in found}
                    lines = self._lines(left, found, fault)
                    self.display.show([*lines], seconds=clock() - begun)
                    await asyncio.sleep(POLL_SECONDS)
        except TimeoutError as error:
            waits = "; ".join(self._lines(left, found, ""))
            raise OLMError(f"{not_yet} after {self.seconds} s: {waits}", hint=self.hint) from error
        finally:
            self.display.end()

    async def _read(self, before: Mapping[str, KubeObject]) -> tuple[Mapping[str, KubeObject], str]:
        """The catalogs, or a passing error of reading them. Raises ApiError for any other."""
        try:
            return {name_of(raw): raw for raw in await read_catalogs(self.kube)}, ""
        except ApiError as error:
            if not error.may_pass:
                raise
            return before, error.message

    def _lines(
        self, left: Sequence[str], found: Mapping[str, KubeObject], fault: str
    ) -> Iterator[str]:
        if len(self.names) > 1:
            yield f"{len(self.names) - len(left)} of {len(self.names)} done"
        for name in left:
            state = catalog_state(found[name]) if name in found else State(Phase.PENDING)
            said = fault or state.message.partition("\n")[0] or self.doing
            yield f"{name}: {state.phase.value}" + (f": {said}" if said else "")


def _is_served(raw: KubeObject) -> bool:
    """Raises TerminalError where only a person can help."""
    progressing = condition(raw, ConditionType.PROGRESSING)
    if progressing is None or not is_current(raw, progressing):
        return False
    state = catalog_state(raw)
    if state.phase is Phase.BLOCKED:
        raise TerminalError(f"{name_of(raw)} is blocked: {state.message}", hint=state.hint)
    return state.phase is Phase.SERVING


def _is_off(raw: KubeObject) -> bool:
    serving = condition(raw, ConditionType.SERVING)
    return serving is None or (is_current(raw, serving) and not is_true(raw, ConditionType.SERVING))
