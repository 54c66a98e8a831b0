"""The samples of `cluster_version`: when each release that counts for a cluster came to do so."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from api.objects import KubeObject, condition, is_true, metadata
from cluster_version.payload.release import Release
from cluster_version.status.history import State
from cluster_version.status.whole import FAILING
from olm_runtime.metrics.exposition import Labels

Json = Mapping[str, Any]
NOTHING: Json = {}


def seconds(time: str | None) -> float:
    """A time of an object since the epoch; 0 if it has none."""
    return datetime.fromisoformat(time).timestamp() if time else 0.0


@dataclass(frozen=True, slots=True)
class _Asked:
    """What of a ClusterVersion the samples are about."""

    cluster_version: KubeObject
    current: Json

    @property
    def history(self) -> list[Json]:
        """Entries, the newest first."""
        return list((self.cluster_version.get("status") or {}).get("history") or ())

    @property
    def created(self) -> float:
        """When the ClusterVersion was made."""
        return seconds(metadata(self.cluster_version).get("creationTimestamp"))

    @property
    def update(self) -> Json | None:
        """What is asked for and not applied by this operator."""
        update: Json | None = self.cluster_version["spec"].get("desiredUpdate")
        differs = update is not None and (update.get("image") or "") != self.current["image"]
        return update if differs else None

    @property
    def changed(self) -> float:
        """When the status last changed."""
        newest = self.history[0] if self.history else NOTHING
        status = self.cluster_version.get("status") or {}
        moved = [each.get("lastTransitionTime") for each in status.get("conditions") or ()]
        times = [newest.get("startedTime"), newest.get("completionTime"), *moved]
        return max(self.created, *map(seconds, times))


def last_completed(cluster_version: KubeObject) -> str:
    """The version that the cluster reached last; empty while it reached none."""
    history = (cluster_version.get("status") or {}).get("history") or ()
    return next(_completed(history), NOTHING).get("version") or ""


def _completed(history: Iterable[Json]) -> Iterator[Json]:
    return (entry for entry in history if entry.get("state") == State.COMPLETED)


def version_times(
    cluster_version: KubeObject | None, own: Release, created: str
) -> Iterator[tuple[Labels, float]]:
    """The samples; `own` is the release of the operator, whose payload was `created` then."""
    current = {"version": own.version, "image": own.image}
    reached = last_completed(cluster_version) if cluster_version else ""
    yield _labels("current", current, reached), seconds(created)
    if cluster_version is not None:
        yield from _of(_Asked(cluster_version, current), reached)


def _of(asked: _Asked, reached: str) -> Iterator[tuple[Labels, float]]:
    history = asked.history
    completed = list(_completed(history))
    if completed:
        before = completed[1].get("version") or "" if completed[1:] else ""
        last = completed[0]
        yield _labels("completed", last, before), seconds(last.get("completionTime"))
    first = history[-1] if history else NOTHING
    yield _labels("initial", first, ""), asked.created
    begun_with = first.get("version") or "" if reached else ""  # nothing while it is installed
    yield _labels("cluster", asked.current, begun_with), asked.created
    if asked.update is not None:
        yield _labels("desired", asked.update, reached), asked.changed
    if is_true(asked.cluster_version, FAILING):
        failing = condition(asked.cluster_version, FAILING) or NOTHING
        hindered = asked.current if asked.update is None else asked.update
        yield _labels("failure", hindered, reached), seconds(failing.get("lastTransitionTime"))
    if history and history[0].get("state") == State.PARTIAL:
        yield _labels("updating", history[0], reached), seconds(history[0].get("startedTime"))


def _labels(kind: str, release: Json, from_version: str) -> Labels:
    named = {key: release.get(key) or "" for key in ("version", "image")}
    return {"type": kind, **named, "from_version": from_version}
