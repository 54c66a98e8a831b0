"""How far an update is, runlevel after runlevel: a ConfigMap says it, as no status has room."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from api.objects import KubeObject
from cluster_version.payload.release import Release
from cluster_version.payload.task_graph import File

CONFIG_MAP_NAME = "version-progress"


@dataclass(frozen=True, slots=True)
class Level:
    """A runlevel of a release.

    name        its digits
    done        of `total` manifests
    components  those with a manifest that is being applied or waited for, by name
    """

    name: str
    done: int
    total: int
    components: tuple[str, ...] = ()


class LevelCounts:
    """Counts the files of a round; those whose names say no runlevel are not counted."""

    def __init__(self, files: Iterable[File] = ()) -> None:
        """`files` are all that are to be applied, in the order in which they were loaded."""
        self._totals = Counter(place[0] for file in files if (place := file.place))
        self._done: Counter[str] = Counter()
        self._at_work: Counter[tuple[str, str]] = Counter()

    def begin(self, file: File) -> None:
        """A file is being applied; its component is at work until that is done, failed or not."""
        if file.place:
            self._at_work[file.place] += 1

    def end(self, file: File) -> None:
        """It is applied and well."""
        if file.place:
            self._at_work[file.place] -= 1
            self._done[file.place[0]] += 1

    @property
    def levels(self) -> tuple[Level, ...]:
        """In the order in which they are applied."""
        at_work = sorted(place for place, count in self._at_work.items() if count)
        return tuple(
            Level(
                name, self._done[name], total, tuple(of for level, of in at_work if level == name)
            )
            for name, total in self._totals.items()
        )


def as_config_map(namespace: str, release: Release, levels: Sequence[Level]) -> KubeObject:
    """What is stored of an update to a release."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": CONFIG_MAP_NAME, "namespace": namespace},
        "data": {
            "version": release.version,
            "image": release.image,
            "runlevels": json.dumps([asdict(level) for level in levels]),
        },
    }


def levels_of(config_map: KubeObject, image: str) -> tuple[Level, ...]:
    """Those of the update to an image; none where it is about another, or somebody else's."""
    data = config_map.get("data") or {}
    if data.get("image") != image:
        return ()
    try:
        found = [
            Level(str(each["name"]), int(each["done"]), int(each["total"]), _names(each))
            for each in json.loads(data["runlevels"])
        ]
    except (KeyError, TypeError, ValueError):
        return ()
    return tuple(found)


def _names(level: dict[str, Sequence[object]]) -> tuple[str, ...]:
    return tuple(map(str, level["components"]))
