"""The smaller computations of OLM Classic agree with upstream's in every visible case."""

import gzip
from pathlib import Path
from typing import Any

import orjson
import pytest

from olm_content.formats import go_json
from olm_content.kube_types.typed_json import typed_json
from tests.oracle.classic_kinds import KINDS

pytestmark = pytest.mark.corpus


@pytest.fixture
def cases(corpus: Path) -> list[dict[str, Any]]:
    """The visible cases, in the order of the file."""
    text = gzip.decompress((corpus / "goldens/classic/helpers-visible.jsonl.gz").read_bytes())
    return [orjson.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"copied-csv"}))  # no case of it is visible
def test_every_case_of_a_kind_has_upstreams_answer(kind: str, cases: list[dict[str, Any]]) -> None:
    assert {case["kind"] for case in cases} <= set(KINDS)
    of_kind = [case for case in cases if case["kind"] == kind]
    assert of_kind
    for case in of_kind:
        assert KINDS[kind](case["input"]) == case["expected"], case["id"]


def test_deployments_are_written_as_go_writes_them(cases: list[dict[str, Any]]) -> None:
    for case in (case["input"] for case in cases if case["kind"] == "deep-hash"):
        assert go_json.dumps(typed_json("DeploymentSpec", case["spec"])) == case["goJSON"]


def test_clusterserviceversions_are_written_as_go_writes_them(cases: list[dict[str, Any]]) -> None:
    for csv in (case["input"]["csv"] for case in cases if case["kind"] == "requirements"):
        assert go_json.dumps(typed_json("ClusterServiceVersion", csv)) == go_json.dumps(csv)
