"""Waits for an extension and shows its progress."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from api.objects import KubeObject, metadata
from api.olm.v1.kinds import EXTENSION
from olm_client.display import Display
from olm_client.lifecycle.overview import Phase, State, extension_state, installed_bundle
from olm_client.lifecycle.readiness import Readiness
from olm_content.versions import parse_bundle_version
from olm_runtime.errors import OLMError, TerminalError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ApiError

POLL_SECONDS = 0.5
_ROLLING_OUT = {Phase.INSTALLING, Phase.UPDATING, Phase.RETRYING}


@dataclass(frozen=True, slots=True)
class Wait:
    """How to wait: for which extension, how long at most, and where it is shown.

    `progress` gives lines that are shown above the extension's own. Of `seconds` so many as `spent`
    are over.
    """

    kube: KubeClient
    name: str
    seconds: float
    display: Display
    progress: Callable[[], Awaitable[list[str]]] | None = None
    spent: float = 0.0

    async def until_installed(self, bundle: str = "") -> KubeObject:
        """The extension once that bundle (or any) is installed and nothing is left to do.

        Raises OLMError: at once where only a person can help, else when the time is over.
        """

        return await self._present(lambda raw: self._is_installed(raw, bundle), "is not installed")

    async def until_updated(self, bundle: str, *, beyond: str = "") -> KubeObject:
        """The extension once that bundle is installed, or a version `beyond`, if given.

        More may follow by itself, or be stopped. Raises OLMError as `until_installed` does.
        """

        def done(raw: KubeObject) -> bool:
            there = installed_bundle(raw)
            known = extension_state(raw).phase not in (Phase.PENDING, Phase.DELETING)
            higher = bool(beyond and there) and is_higher(there["version"], beyond)
            if known and (there.get("name") == bundle or higher):
                return True
            return self._is_installed(raw, bundle)

        return await self._present(done, "is not installed")

    async def until_resumed(self) -> KubeObject:
        """As `until_installed`, of one whose status may say yet that it is suspended."""

        def done(raw: KubeObject) -> bool:
            return extension_state(raw).phase is not Phase.SUSPENDED and self._is_installed(raw)

        return await self._present(done, "is not installed")

    async def until_suspended(self, text: str) -> KubeObject:
        """The extension once its status says that it is suspended, with this text in it."""

        def done(raw: KubeObject) -> bool:
            found = extension_state(raw)
            return found.phase is Phase.SUSPENDED and text in found.message

        return await self._present(done, "is not suspended")

    def _is_installed(self, raw: KubeObject, bundle: str = "") -> bool:
        """Raises TerminalError where only a person can help."""
        found = extension_state(raw)
        if found.phase is Phase.BLOCKED:
            message = f"{self.name} is blocked: {found.message}"
            raise TerminalError(message, hint=found.hint)
        if found.phase is Phase.SUSPENDED:
            raise TerminalError(f"{self.name} is {found.message}", hint=found.hint)
        there = installed_bundle(raw).get("name")
        settled = found.phase in (Phase.INSTALLED, Phase.DEGRADED)
        return settled and there is not None and bundle in ("", there)

    async def _present(self, done: Callable[[KubeObject], bool], not_yet: str) -> KubeObject:
        """The extension as soon as it is done. Raises TerminalError if it is deleted."""

        def holds(raw: KubeObject | None) -> bool:
            if raw is None:
                raise TerminalError(f"{self.name} was deleted meanwhile")
            return done(raw)

        raw = await self._until(holds, not_yet)
        if raw is None:
            raise TerminalError(f"{self.name} was deleted meanwhile")
        return raw

    async def until_gone(self, uid: str) -> None:
        """Returns when the extension of this uid is there no more. Raises OLMError."""
        await self._until(lambda raw: raw is None or metadata(raw).get("uid") != uid, "is not gone")

    async def _until(
        self, done: Callable[[KubeObject | None], bool], not_yet: str
    ) -> KubeObject | None:
        """The extension as soon as it is done; `not_yet` is what a timeout reports."""
        last = State(Phase.PENDING)
        readiness, objects = Readiness(self.kube, self.name), list[str]()
        clock = asyncio.get_running_loop().time
        begun = clock() - self.spent
        try:
            async with asyncio.timeout(max(1.0, self.seconds - self.spent)):
                while True:
                    raw, fault = await self._read()
                    if not fault and done(raw):
                        return raw
                    if fault or raw is not None:
                        last = extension_state(raw) if raw else State(last.phase, fault)
                    above = await self.progress() if self.progress else []
                    objects = await readiness.lines() if last.phase in _ROLLING_OUT else []
                    below = (f"  {line}" for line in objects)
                    shown = [*above, *_lines(self.name, last), *below]
                    self.display.show(shown, seconds=clock() - begun)
                    await asyncio.sleep(POLL_SECONDS)
        except TimeoutError as error:
            again = f"it is still tried; look again: olm status {self.name}"
            message = "\n".join((last.message, *objects))
            raise OLMError(
                f"{self.name} {not_yet} after {self.seconds:.0f} s: {last.phase}: {message}",
                hint=f"{last.hint}; {again}" if last.hint else again,
            ) from error
        finally:
            self.display.end()

    async def _read(self) -> tuple[KubeObject | None, str]:
        """The extension, or a passing error of reading it. Raises ApiError for any other."""
        try:
            return await self.kube.find(EXTENSION, self.name), ""
        except ApiError as error:
            if not error.may_pass:
                raise
            return None, error.message


def is_higher(version: str, other: str) -> bool:
    """Whether a version comes after another. Raises VersionError."""
    return parse_bundle_version(version).key > parse_bundle_version(other).key


def _lines(name: str, found: State) -> list[str]:
    first, *rest = found.message.splitlines() or [""]
    head = f"{name}: {found.phase.value}" + (f": {first}" if first else "")
    hints = [f"hint: {hint}" for hint in found.hint.splitlines()]
    return [head, *(f"  {line}" for line in [*rest, *hints])]
