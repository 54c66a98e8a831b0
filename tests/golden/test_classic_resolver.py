"""The resolver of OLM Classic agrees with upstream's in every visible case."""

import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.oracle.classic import answer

pytestmark = pytest.mark.corpus

SUCCESS = frozenset({"resolved", "no-change"})


def test_class_and_selection_agree_in_every_case(corpus: Path) -> None:
    folder = corpus / "goldens/classic"
    text = gzip.decompress((folder / "resolver-visible.jsonl.gz").read_bytes())
    cases = [orjson.loads(line) for line in text.splitlines()]
    answers = [(case, answer(case, folder / "catalogs")) for case in cases]
    wrong = [(case["id"], got) for case, got in answers if not agrees(case["expected"], got)]
    assert cases
    assert not wrong


def agrees(expected: Mapping[str, Any], got: Mapping[str, Any]) -> bool:
    """As the README of the goldens says how to compare."""
    if expected["class"] != got["class"]:
        return False
    if got["class"] == "unsatisfiable":  # which of the cores is shown is the solver's own
        return bool(got["error"].startswith("constraints not satisfiable: "))
    if got["class"] == "catalog-invalid":
        return True
    results = [outcome["result"] for outcome in expected["outcomes"]]
    if got["class"] == "error":
        return got["error"] in [result["error"] for result in results]
    free = frozenset(expected.get("channelFree") or ())
    return comparable(got, free) in [comparable(result, free) for result in results]


def comparable(result: Mapping[str, Any], free: frozenset[str]) -> list[list[Any]]:
    """Selection, Subscription steps and updates, without what is arbitrary of `free` bundles."""
    selected = [
        (
            each["name"],
            each["catalog"],
            each["catalogNamespace"],
            *(() if each["name"] in free else (each["channel"], each.get("replaces", ""))),
        )
        for each in result.get("selected") or ()
    ]
    steps = [
        (each["name"], sorted(each["spec"].items()))
        for each in result.get("steps") or ()
        if each["kind"] == "Subscription"
    ]
    updated = [(u["name"], u["currentCSV"]) for u in result.get("updatedSubscriptions") or ()]
    return [sorted(selected), sorted(steps), sorted(updated)]
