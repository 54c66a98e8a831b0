"""The resolver of OLM Classic agrees with upstream's in every visible case."""

import gzip
from collections.abc import Awaitable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from olm_classic.dialect import Dialect
from olm_classic.io.entry_index import IndexReader, write_index
from olm_classic.io.resolution import Resolver
from olm_classic.resolve import Catalog, Limit, Namespace, Resolution, ResolutionError, resolve
from olm_classic.resolve.frames import answer_out
from tests.oracle.classic import answer, namespace_of

pytestmark = pytest.mark.corpus

SUCCESS = frozenset({"resolved", "no-change"})


Cases = list[dict[str, Any]]


@pytest.fixture(scope="module")
def goldens(corpus: Path) -> Path:
    return corpus / "goldens/classic"


@pytest.fixture(scope="module")
def cases(goldens: Path) -> Cases:
    text = gzip.decompress((goldens / "resolver-visible.jsonl.gz").read_bytes())
    found = [orjson.loads(line) for line in text.splitlines()]
    assert found
    return found


def test_class_and_selection_agree_in_every_case(cases: Cases, goldens: Path) -> None:
    answers = [(case, answer(case, goldens / "catalogs")) for case in cases]
    assert not [(case["id"], got) for case, got in answers if not agrees(case["expected"], got)]


def test_each_difference_of_the_documents_dialect_has_a_rule(cases: Cases, goldens: Path) -> None:
    rules_by_case = {}
    for case in cases:
        got = answer(case, goldens / "catalogs", Dialect.DOCUMENTS)
        if not agrees(case["expected"], got):
            rules_by_case[case["id"]] = rules_of(namespace_of(case["case"], goldens / "catalogs"))
    assert rules_by_case
    assert not [id_ for id_, rules in rules_by_case.items() if not rules]


def rules_of(namespace: Namespace) -> set[str]:
    """The rules by which the documents differ from upstream that a case has to do with."""
    subscriptions = namespace.subscriptions
    tied = {(each.get("status") or {}).get("installedCSV") for each in subscriptions}
    found = set()
    if any(csv["metadata"]["name"] not in tied for csv in namespace.csvs):
        found.add("a CSV without Subscription is taken up")
    if tied - {None, ""} and len(namespace.catalogs) > 1:
        found.add("an update may come from another catalog")
    for catalog in namespace.catalogs:
        for entry in catalog.content.scan():
            if len(set(entry.apis)) < len(entry.apis):
                found.add("an API that is listed twice counts once")
            for each in entry.properties:
                if each["type"] == "olm.constraint" and {"all", "any", "not"} & set(each["value"]):
                    found.add("compound constraints are met by the whole solution")
    return found


async def test_processes_over_indexes_answer_the_same(
    cases: Cases, goldens: Path, tmp_path: Path
) -> None:
    """Three processes with other seeds of hashes than this one: the answers are the same bytes."""
    resolver = Resolver(Dialect.UPSTREAM, seconds=120, memory=1 << 30)
    different = []
    for number, case in enumerate(cases):
        if case["expected"]["class"] == "catalog-invalid":
            continue
        given = namespace_of(case["case"], goldens / "catalogs")
        catalogs = tuple(
            stored(each, tmp_path / f"{number}-{place}.sqlite")
            for place, each in enumerate(given.catalogs)
        )
        if number % 50 == 49:
            await resolver.close()
        stands = replace(given, catalogs=catalogs)
        if await outcome_of(resolver.resolve_namespace(stands)) != await outcome_of(here(given)):
            different.append(case["id"])
    await resolver.close()
    assert not different


async def here(given: Namespace) -> Resolution:
    return resolve(given, Limit(lambda: 0.0), Dialect.UPSTREAM)


async def outcome_of(resolving: Awaitable[Resolution]) -> dict[str, Any]:
    """The answer as it goes between processes, without explanations."""
    try:
        found: Resolution | ResolutionError = await resolving
    except ResolutionError as error:
        found = error
    return {key: value for key, value in answer_out(found).items() if key != "hint"}


def stored(catalog: Catalog, file: Path) -> Catalog:
    write_index(file, catalog.content.scan())
    return replace(catalog, content=IndexReader(file, catalog.key))


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
