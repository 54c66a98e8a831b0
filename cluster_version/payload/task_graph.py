"""In which order the manifests of a release are applied, and which of them at the same time.

The names of files say it: `0000_<runlevel>_<component>_...`. While a cluster is updated, runlevels
follow each other and the components of one are applied at once; while it is installed or
reconciled, components do not wait for runlevels. A Job is applied alone, after all before and
before all after it. Source of the rules: upstream's notes, section 9.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain, groupby

UPDATE_WORKERS = 16
RECONCILE_WORKERS = 2

_FILE_NAME = re.compile(r"0000_([0-9]+)_([a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*)_")


class State(StrEnum):
    """Why manifests are applied; in the words of status and logs."""

    INITIALIZING = "Initializing"
    UPDATING = "Updating"
    RECONCILING = "Reconciling"


@dataclass(frozen=True, slots=True)
class File:
    """The file of a manifest, and whether the manifest is a Job."""

    name: str
    is_job: bool = False

    @property
    def place(self) -> tuple[str, str] | None:
        """Runlevel and component, both compared as text; None for a name that says neither."""
        found = _FILE_NAME.match(self.name)
        return (found[1], found[2]) if found else None


@dataclass(frozen=True, slots=True)
class Group:
    """Manifests that are applied one after another.

    tasks  their positions in the order in which they were loaded
    after  the groups that must be done before, by their positions in the graph
    """

    tasks: range
    after: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TaskGraph:
    """Groups in the order of their first manifest, and how many of them may be applied at once."""

    groups: tuple[Group, ...]
    workers: int


def task_graph(files: Sequence[File], state: State) -> TaskGraph:
    """The graph of manifests in the order in which they were loaded."""
    groups: list[Group] = []
    after: tuple[int, ...] = ()
    parts = list(_split_at_jobs(files))
    steps = [list(_steps(files, part, state)) for part in parts]
    for step in chain.from_iterable(steps):
        first = len(groups)
        groups += [Group(tasks, after) for tasks in step]
        after = tuple(range(first, len(groups)))
    match state:
        case State.INITIALIZING:
            workers = _graph_nodes(steps)
        case State.UPDATING:
            workers = UPDATE_WORKERS
        case State.RECONCILING:
            workers = RECONCILE_WORKERS
    return TaskGraph(tuple(groups), workers)


def rotated(groups: Sequence[int], attempt: int, period: int) -> list[int]:
    """Groups from another one on at each attempt, so that within a period each is early once."""
    count = len(groups)
    shift = attempt if count < period else attempt * count // period
    start = shift % count if count else 0
    return [*groups[start:], *groups[:start]]


def _graph_nodes(parts: Sequence[Sequence[Sequence[range]]]) -> int:
    """As many as upstream's graph has nodes: parallel groups stand between two empty ones."""
    last = len(parts) - 1
    nodes = 0
    for number, [groups] in enumerate(parts):
        spacers = 1 + (number < last) if len(groups) > 1 else 0
        nodes += len(groups) + spacers
    return max(nodes, 1)


def _split_at_jobs(files: Sequence[File]) -> Iterator[range]:
    start = 0
    for position, file in enumerate(files):
        if file.is_job:
            yield from _unless_empty(range(start, position))
            yield range(position, position + 1)
            start = position + 1
    yield from _unless_empty(range(start, len(files)))


def _unless_empty(part: range) -> Iterator[range]:
    if part:
        yield part


def _steps(files: Sequence[File], part: range, state: State) -> Iterator[list[range]]:
    """What follows each other in a part: groups at the same time, or one alone.

    In an update, runlevels of a single component and files whose names say nothing are one group
    together, as long as nothing parallel comes between.
    """
    levels = _levels(files, part)
    if state is not State.UPDATING:
        yield list(chain.from_iterable(levels))
        return
    for is_alone, following in groupby(levels, key=lambda groups: len(groups) == 1):
        if is_alone:
            runs = [run for [run] in following]
            yield [range(runs[0].start, runs[-1].stop)]
        else:
            yield from following


def _levels(files: Sequence[File], part: range) -> Iterator[list[range]]:
    """The groups of each runlevel; a file whose name says nothing stands for itself."""
    for _, level in groupby(part, key=lambda at: (files[at].place or (at,))[0]):
        components = groupby(level, key=lambda at: files[at].place)
        found = [list(positions) for _, positions in components]
        yield [range(positions[0], positions[-1] + 1) for positions in found]
