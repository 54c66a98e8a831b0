"""Says in OLMConfig how far copies are as it asks, and in Events which operators have none."""

from collections.abc import Callable
from datetime import datetime

from api.objects import GVK, KubeObject, metadata, name_of
from api.operators.v1.olmconfig import SINGLETON
from olm_classic.controllers.known_copies import COPIES, KnownCopies
from olm_classic.copies.condition import (
    EVENT_REASON,
    condition_of,
    event_of,
    subject,
)
from olm_classic.copies.sources import Key, Source
from olm_classic.kinds import CLUSTER_SERVICE_VERSION, OLM_CONFIG
from olm_classic.names import COPIES_FIELD_MANAGER
from olm_classic.selections import NAMESPACES
from olm_runtime.controller.handlers import Change, Enqueue
from olm_runtime.controller.manager import Manager, Registration, Watch
from olm_runtime.controller.requests import Request
from olm_runtime.controller.status_writer import with_condition
from olm_runtime.kube.errors import AlreadyExistsError
from olm_runtime.outcome import Done, Failed, Outcome
from olm_runtime.watch.informer import Selection

NAME = "olm-config"
EVENTS = Selection(GVK("", "v1", "Event"), fields=f"reason={EVENT_REASON}")
SUBJECT = "subject"
"""The index of Events by what they are about."""
SOON_SECONDS = 0.5
"""While copies come and go by the thousand, they are counted this often."""


class OLMConfigController:
    """The one request is the name of the OLMConfig, whether it exists or not."""

    def __init__(
        self, manager: Manager, known: KnownCopies, *, clock: Callable[[], datetime]
    ) -> None:
        self._manager = manager
        self._client = manager.client
        self._known = known
        self._clock = clock
        self._events = manager.selected(EVENTS)
        self._events.add_index(SUBJECT, lambda event: [subject(event)])

    def registration(self) -> Registration:
        """The row of this controller."""
        return Registration(
            name=NAME,
            reconciler=self,
            watches=[
                Watch(OLM_CONFIG, self._manager.enqueue_changed, predicates=[_is_singleton]),
                Watch(CLUSTER_SERVICE_VERSION, self._on_csv),
                Watch(COPIES, _soon, predicates=[_comes_or_goes]),
                Watch(NAMESPACES, _soon),
                Watch(EVENTS, _soon),
            ],
            workers=1,
        )

    def _on_csv(self, event: Change, enqueue: Enqueue) -> None:
        """What works everywhere counts, and what did."""
        versions = [obj for obj in (event.old, event.new) if obj is not None]
        if any(Source.of(obj).everywhere for obj in versions):
            enqueue(SINGLETON, after=SOON_SECONDS)

    async def reconcile(self, _: Request) -> Outcome:
        """Brings Events and the condition to what there is. Raises ApiError, NotSyncedError."""
        self._known.check_synced()
        self._events.check_synced()
        await self._write_events()
        config = self._known.configs.get(SINGLETON)
        if config is not None:
            await self._write_condition(config)
        return Done()

    async def report_failure(self, request: Request, failed: Failed) -> None:
        """It is in the log."""

    async def _write_events(self) -> None:
        """One Event for each operator that is not copied, none for any other."""
        silent = self._uncopied()
        announced = set()
        for event in sorted(self._events.objects(), key=name_of):
            source = silent.get(subject(event))
            about = (event.get("involvedObject") or {}).get("uid")
            if source is None or about != source.uid or source.key in announced:
                await self._client.delete(event, uid=metadata(event)["uid"])
            else:
                announced.add(source.key)
        for key, source in silent.items():
            if key not in announced:
                await self._announce(source)

    def _uncopied(self) -> dict[Key, Source]:
        if not self._known.copying.disabled:
            return {}
        return {each.key: each for each in self._known.sources.everywhere() if each.copied}

    async def _announce(self, source: Source) -> None:
        event = event_of(source, self._clock())
        try:
            made = await self._client.create(event, field_manager=COPIES_FIELD_MANAGER)
        except AlreadyExistsError:
            return
        self._events.update(made)

    async def _write_condition(self, config: KubeObject) -> None:
        known = self._known
        copying, sources = known.copying, known.sources
        active = known.active()
        missing = unexpected = False
        for source in sources.everywhere():
            held = known.copies_of(source.key)
            missing |= not sources.wanted_in(source, copying, active) <= held
            unexpected |= any(not copying.allows(source, namespace) for namespace in held)
        condition = condition_of(disabled=copying.disabled, missing=missing, unexpected=unexpected)
        status = with_condition(config, condition, self._clock())
        await self._manager.statuses.write(config, status)


def _is_singleton(event: Change) -> bool:
    return event.key[1] == SINGLETON


def _comes_or_goes(event: Change) -> bool:
    return event.old is None or event.new is None


def _soon(_: Change, enqueue: Enqueue) -> None:
    enqueue(SINGLETON, after=SOON_SECONDS)
