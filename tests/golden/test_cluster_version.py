"""The Cluster Version Operator decides as upstream does in every visible case."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.oracle.cluster_version import OPERATIONS, compute, operation_of

pytestmark = pytest.mark.corpus

Json = dict[str, Any]
GO_ERRORS = frozenset({"parse"})
"""Operations whose error texts are those of Go's libraries."""
SERVER_ERRORS = frozenset({"taskerror"})
"""Operations on errors of an API server of which cases do not give the text."""
INFORMATIVE = frozenset({"graphNodes", "nestedInformative"})


@pytest.fixture(scope="module")
def cases(corpus: Path) -> list[Json]:
    """The visible cases of all families."""
    folder = corpus / "goldens/cluster-version"
    return [case for file in sorted(folder.glob("*.jsonl")) for case in _lines(file)]


def _lines(file: Path) -> Iterator[Json]:
    return map(orjson.loads, file.read_bytes().splitlines())


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_every_case_of_an_operation_has_upstreams_answer(
    operation: str, cases: list[Json], corpus: Path
) -> None:
    graphs = corpus / "goldens/cluster-version/graphs"
    of_operation = [case for case in cases if operation_of(case["op"], case["input"]) == operation]
    assert of_operation
    for case in of_operation:
        output = compute(operation, case["input"], graphs)
        assert _comparable(operation, output) == _comparable(operation, case["expected"]), case[
            "id"
        ]


def _comparable(operation: str, output: Json) -> Json:
    """Without what is not compared; an empty list and null are the same."""
    compared = {key: value or None for key, value in output.items() if key not in INFORMATIVE}
    if operation in GO_ERRORS:
        compared["error"] = bool(compared["error"])
    if operation in SERVER_ERRORS:
        compared["error"] = {**(compared["error"] or {}), "nested": None}
    return compared
