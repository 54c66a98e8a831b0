"""A golden case of the Cluster Version Operator to its answer, in the format of the goldens.

Each module knows the operations of a family or two; the format of their inputs and outputs is in
the README of the goldens.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.oracle.cluster_version import (
    client,
    contents,
    decisions,
    health,
    merge,
    order,
    signatures,
    status,
    updates,
    versions,
)

Json = dict[str, Any]
GRAPH = "graph"
STATUS_COMMAND = "status command"
"""Ours is `olm cluster status`; the other is what the operator writes."""


def answer(line: Json, graphs: Path | None = None) -> Json:
    """What is written for a line. Raises KeyError for an operation that there is not."""
    return {"id": line["id"], "output": compute(line["op"], line["input"], graphs)}


def compute(operation: str, given: Json, graphs: Path | None = None) -> Json:
    """The answer of an operation; `graphs` is the folder of the graphs that cases refer to."""
    if operation == GRAPH:
        return updates.graph(given, graphs)
    return OPERATIONS[operation_of(operation, given)](given)


def operation_of(operation: str, given: Json) -> str:
    """The operation of a case by our names: there are two that cases call `status`."""
    return STATUS_COMMAND if operation == "status" and "files" in given else operation


OPERATIONS: Mapping[str, Callable[[Json], Json]] = {
    GRAPH: updates.graph,
    **order.OPERATIONS,
    **versions.OPERATIONS,
    **contents.OPERATIONS,
    **updates.OPERATIONS,
    **merge.OPERATIONS,
    **client.OPERATIONS,
    **health.OPERATIONS,
    **status.OPERATIONS,
    **decisions.OPERATIONS,
    **signatures.OPERATIONS,
}
"""What is computed for each operation that there is yet."""
