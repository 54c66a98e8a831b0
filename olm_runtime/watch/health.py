"""Whether watches live: what is served has to be watched, and a watch that lives is opened anew.

The server ends each watch after `reopened` seconds, so one that was not opened for much longer is
dead, whatever it died of: a connection that nobody answers any more, a library that waits for
something that never comes. A kind that is not served cannot be watched, and neither can any while
the API server is away: that is nobody's fault here. Times are those of the monotonic clock.
"""

import threading
from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WatchTimes:
    """Seconds.

    missing    how often to look for kinds that are not served; watches follow within five seconds
    served     how often to look while all of them are
    reopened   how long the server keeps a watch open
    opening    how long all of them may take to be opened once they are begun
    restarted  after how long without one all of them are begun anew
    dead       after how long that has not helped, and the program had better be started anew
    listed     how often a kind is listed although nothing is known to have been missed
    """

    missing: float = 2.0
    served: float = 20.0
    reopened: int = 60
    opening: float = 15.0
    restarted: float = 90.0
    dead: float = 240.0
    listed: float = 600.0


class WatchHealth:
    """What is known of the watches of some kinds. May be used from any thread."""

    def __init__(self, times: WatchTimes, now: float) -> None:
        self._times = times
        self._lock = threading.Lock()
        self._looked = now
        self._served: dict[str, float] = {}
        self._opened: dict[str, float] = {}

    def looked(self, served: Collection[str], now: float) -> None:
        """These kinds are served; none as far as is known while the API server is away."""
        with self._lock:
            self._looked = now
            self._served = {kind: self._served.get(kind, now) for kind in served}

    def opened(self, kind: str, now: float) -> None:
        """The server has agreed to send what happens to a kind."""
        with self._lock:
            self._opened[kind] = now

    def to_restart(self, begun: float, now: float) -> list[str]:
        """The kinds for which watches that were begun then are to be begun anew.

        kopf watches what it finds when it begins, and may find less than there is: the API server
        lists its groups and what they have at different moments.
        """
        return self._overlooked(begun, now) or self._unopened(begun, now - self._times.restarted)

    def dead(self, now: float) -> list[str]:
        """What is wrong, if it does not come right by itself."""
        if self._looked < now - self._times.dead:
            return ["whoever looks after the watches"]
        return self._unopened(0.0, now - self._times.dead)

    def _overlooked(self, begun: float, now: float) -> list[str]:
        late = self._unopened(begun, now - self._times.opening)
        with self._lock:
            return [kind for kind in late if self._opened.get(kind, 0.0) < begun]

    def _unopened(self, begun: float, since: float) -> list[str]:
        with self._lock:
            latest = {
                kind: max(begun, served, self._opened.get(kind, 0.0))
                for kind, served in self._served.items()
            }
        return sorted(kind for kind, moment in latest.items() if moment < since)
