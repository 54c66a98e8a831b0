"""Our verdict on updates of real definitions is upstream's.

`olm crd check --batch` agrees in every case, given the lines that upstream was given. The check
itself, which sees values and not texts, is asked too. Two kinds of upstream's findings in the
goldens are about how they were made, not about the definitions, and are then disregarded:

- a default "changed" from one value to the same value: the old definition was given to upstream
  with blanks after colons and commas, and it compares text. The API server writes neither, and
  upstream's own answer is then ours;
- what is said of a pair of served versions although the old definition had it too: upstream
  leaves such findings out by comparing texts, in which the names of fields are in random order.
"""

import copy
import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from api.objects import KubeObject
from olm_cli.crd import answer
from olm_client.crds.texts import read_line
from olm_content.crds import check
from olm_content.formats.kube_yaml import load_all
from tests.requirements import CORPUS

GOLDENS = CORPUS / "goldens" / "crd-safety.jsonl"
CASES = [json.loads(x) for x in GOLDENS.read_text().splitlines()] if GOLDENS.exists() else []

DEFAULT_CHANGED = re.compile(r'.*: default: default value changed : (".*") -> (".*")')
SERVED_PAIR = re.compile(r"(\S+ -> \S+): (\S+): ")

pytestmark = pytest.mark.corpus


def test_there_are_goldens(corpus: Path) -> None:
    assert CASES


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['crd']} {c['from']} to {c['to']}")
def test_verdict_is_upstreams(case: dict[str, Any]) -> None:
    old = definitions(case["package"], case["from"])[case["crd"]]
    new = definitions(case["package"], case["to"])[case["crd"]]
    known = known_pairs(old)
    meant = [f for f in case["findings"] if not (same_default(f) or known_pair(f, known))]
    assert bool(check(old, new)) == bool(meant)


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['crd']} {c['from']} to {c['to']}")
def test_a_batch_answers_as_upstream(case: dict[str, Any]) -> None:
    old, new = (definitions(case["package"], case[end])[case["crd"]] for end in ("from", "to"))
    line = json.dumps({"old": old, "new": new}).encode()
    assert answer(read_line(line))["safe"] == case["safe"]


@lru_cache
def definitions(package: str, version: str) -> dict[str, KubeObject]:
    folder = CORPUS / "bundles" / package / version / "manifests"
    objects = [obj for path in folder.iterdir() for obj in load_all(path.read_bytes())]
    return {o["metadata"]["name"]: o for o in objects if o["kind"] == "CustomResourceDefinition"}


def same_default(finding: str) -> bool:
    found = DEFAULT_CHANGED.fullmatch(finding)
    if found is None:
        return False
    before, after = (json.loads(json.loads(text)) for text in found.groups())
    return bool(before == after)


def known_pairs(old: KubeObject) -> set[tuple[str, str]]:
    """Pairs of served versions, and the fields in which they already differ."""
    unserved = copy.deepcopy(old)
    for version in unserved["spec"]["versions"]:
        version["served"] = False
    return {(finding.version, finding.field) for finding in check(unserved, old)}


def known_pair(finding: str, known: set[tuple[str, str]]) -> bool:
    found = SERVED_PAIR.search(finding)
    return found is not None and (found[1], found[2]) in known
