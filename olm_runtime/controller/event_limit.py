"""How many Events of one reason an object may have: nobody reads more, and each is stored. Pure."""

from collections import OrderedDict
from dataclasses import dataclass

from api.objects import KubeObject, name_of, namespace_of

BURST = 10
SECONDS_EACH = 300.0
"""After so long there may be one more."""
MOST_KEYS = 4096
"""Of these the limit is known; the one asked for longest ago is forgotten first."""

Key = tuple[str, str, str, str]


@dataclass(slots=True)
class _Allowance:
    left: float
    since: float

    def left_at(self, now: float) -> float:
        return min(self.left + (now - self.since) / SECONDS_EACH, BURST)


class EventLimit:
    """A bucket of tokens for each kind, namespace, name and reason."""

    def __init__(self) -> None:
        self._allowances: OrderedDict[Key, _Allowance] = OrderedDict()
        self._swept = 0.0

    @property
    def remembered(self) -> int:
        """Of how many reasons of objects it knows."""
        return len(self._allowances)

    def allows(self, about: KubeObject, reason: str, now: float) -> bool:
        """Whether there may be one more; counts it if so. `now` is in seconds, and only grows."""
        if now - self._swept >= SECONDS_EACH:
            self._swept = now
            self._forget_whole(now)
        key = (str(about.get("kind")), namespace_of(about), name_of(about), reason)
        known = self._allowances.setdefault(key, _Allowance(BURST, now))
        self._allowances.move_to_end(key)
        if len(self._allowances) > MOST_KEYS:
            self._allowances.popitem(last=False)
        known.left, known.since = known.left_at(now), now
        if known.left < 1:
            return False
        known.left -= 1
        return True

    def _forget_whole(self, now: float) -> None:
        """Those are as if nothing had been asked: most names come once and never again."""
        whole = [key for key, each in self._allowances.items() if each.left_at(now) == BURST]
        for key in whole:
            del self._allowances[key]
