"""How many requests are sent at once, and which are sent first.

An API server that is asked more than it can do answers everybody late. So requests for the keys of
work queues wait here, where the urgent ones go first, and not there; while there are urgent ones
few others are sent. Requests for no key, such as the renewal of a lease, are sent at once.

A request that takes long gives its slot away: it waits for something else than the processor of the
server, such as a webhook that does not answer, and must not hold up others.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from functools import partial

from olm_runtime.lanes import Lane, Place, Priority

SLOTS = 16
URGENT_SLOTS = 8
"""Of urgent requests, and of others meanwhile: enough to keep two processors busy, and an answer
takes some hundredths of a second."""
FEW = 4
SLOTS_BESIDE_FEW = 3
"""Of others, while urgent requests are on behalf of a few: these find a server with little else to
do, and two processors are in use all the same."""
LINGER_SECONDS = 0.5
"""So long after an urgent request the next one of the same key comes."""
PATIENCE_SECONDS = 0.5


class Asking:
    """On whose behalf requests are sent: his place, and how long they have waited for slots."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._waiting = 0
        self._since = self._waited = 0.0

    def begin_to_wait(self, now: float) -> None:
        """One more request waits."""
        if not self._waiting:
            self._since = now
        self._waiting += 1

    def end_to_wait(self, now: float) -> None:
        """One of them waits no more."""
        self._waiting -= 1
        if not self._waiting:
            self._waited += now - self._since

    def seconds_waited(self, now: float) -> float:
        """For how long any of them waited."""
        return self._waited + (now - self._since if self._waiting else 0.0)


asking: ContextVar[Asking | None] = ContextVar("asking", default=None)
"""That of a task, and of those that it starts; None for requests that wait for nothing."""


class RequestSlots:
    """The slots of one server; inside one running loop."""

    def __init__(
        self,
        slots: int = SLOTS,
        urgent_slots: int = URGENT_SLOTS,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        """`patience`: for how many seconds at most a request has its slot."""
        self._urgent: Lane[asyncio.Future[None]] = Lane(urgent_slots)
        self._others: Lane[asyncio.Future[None]] = Lane(slots)
        self._patience = patience
        self._urgent_asked: dict[float, float] = {}
        """When each of those with urgent requests asked last, by since when he waits; in order."""

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Waits for a slot, which is given back at the end, or once the request takes long."""
        on_behalf = asking.get()
        if on_behalf is None:
            yield
            return
        is_urgent = on_behalf.place.priority is Priority.HIGH
        lane = self._urgent if is_urgent else self._others
        await self._take(lane, on_behalf)
        slot = _Slot(partial(self._give_back, lane))
        late = asyncio.get_running_loop().call_later(self._patience, slot.leave)
        try:
            yield
        finally:
            late.cancel()
            slot.leave()

    async def _take(self, lane: Lane[asyncio.Future[None]], on_behalf: Asking) -> None:
        loop = asyncio.get_running_loop()
        if lane is self._urgent:
            self._urgent_asked.pop(on_behalf.place.since, None)
            self._urgent_asked[on_behalf.place.since] = loop.time()
        if not len(lane) and lane.taken < self._room(lane):
            lane.taken += 1
            return
        turn = loop.create_future()
        lane.add(turn, on_behalf.place)
        on_behalf.begin_to_wait(loop.time())
        try:
            await turn
        except asyncio.CancelledError:
            if turn in lane:
                lane.remove(turn)
            elif not turn.cancelled():
                self._give_back(lane)
            raise
        finally:
            on_behalf.end_to_wait(loop.time())

    def _room(self, lane: Lane[asyncio.Future[None]]) -> int:
        """How many requests may be sent at once now; always at least one."""
        urgent = self._count_urgent() if lane is self._others else 0
        if not urgent:
            return lane.slots
        beside_few = SLOTS_BESIDE_FEW if urgent <= FEW else lane.slots
        return min(lane.slots, self._urgent.slots, beside_few)

    def _count_urgent(self) -> int:
        """On behalf of how many urgent requests were sent just now, or will be."""
        asked, over = self._urgent_asked, asyncio.get_running_loop().time() - LINGER_SECONDS
        while asked and asked[first := next(iter(asked))] <= over:
            del asked[first]
        return len(asked)

    def _give_back(self, lane: Lane[asyncio.Future[None]]) -> None:
        """Gives slots to those whose turn it is."""
        lane.taken -= 1
        while len(lane) and lane.taken < self._room(lane):
            turn, _ = lane.pop()
            if not turn.cancelled():
                lane.taken += 1
                turn.set_result(None)


class _Slot:
    """One that is taken, until it is left."""

    def __init__(self, give_back: Callable[[], None]) -> None:
        self.give_back = give_back
        self.is_left = False

    def leave(self) -> None:
        """Idempotent."""
        if not self.is_left:
            self.is_left = True
            self.give_back()
