"""The order of a release's manifests: families a (task graph) and its runs."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from cluster_version.io.task_runner import run
from cluster_version.payload.task_graph import File, Group, State, rotated, task_graph
from olm_runtime.errors import TerminalError

Json = dict[str, Any]


def _files(given: Json) -> list[File]:
    return [File(each["name"], is_job=each.get("kind") == "Job") for each in given["files"] or ()]


def _task_graph(given: Json) -> Json:
    graph = task_graph(_files(given), State(given["state"]))
    groups = [
        {"after": list(group.after), "from": group.tasks.start, "to": group.tasks.stop - 1}
        for group in graph.groups
    ]
    return {"groups": groups, "maxWorkers": graph.workers}


def _run_graph(given: Json) -> Json:
    files, failing = _files(given), set(given["fail"] or ())
    started: set[int] = set()

    async def apply(group: Group) -> None:
        for task in group.tasks:
            started.add(task)
            if files[task].name in failing:
                raise TerminalError(f"failed {files[task].name}")

    errors = asyncio.run(run(task_graph(files, State(given["state"])), apply))
    return {
        "started": sorted(started),
        "neverStarted": sorted({*range(len(files))} - started) or None,
        "errorsSorted": sorted(error.message for error in errors) or None,
    }


def _shift(given: Json) -> Json:
    return {"order": rotated(range(given["groups"]), given["step"], given["stride"])}


OPERATIONS: Mapping[str, Callable[[Json], Json]] = {
    "taskgraph": _task_graph,
    "rungraph": _run_graph,
    "shift": _shift,
}
