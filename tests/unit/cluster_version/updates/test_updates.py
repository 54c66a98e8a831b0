"""Which updates a cluster may make."""

import asyncio
from dataclasses import replace
from typing import Any

import orjson
import pytest

from cluster_version.payload.release import Release
from cluster_version.updates.errors import RetrievalError
from cluster_version.updates.graph import (
    Updates,
    read_graph,
    read_risk,
    updates_of,
    with_cluster_id,
    with_risks,
)
from cluster_version.updates.retrieval import Question, request_of
from cluster_version.updates.risks import Evaluated, evaluate
from olm_content.versions import parse_version
from olm_runtime.errors import TerminalError

ALWAYS = {"type": "Always"}


def promql(query: str) -> dict[str, Any]:
    return {"type": "PromQL", "promql": {"promql": query}}


def risk(name: str, *rules: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "message": f"{name} hurts.",
        "url": f"http://{name}",
        "matchingRules": rules,
    }


def graph(
    edges: list[Any], *conditional: tuple[str, list[dict[str, Any]]], **metadata: Any
) -> bytes:
    """Versions 4.1.0 to 4.1.3; conditional edges are from 4.1.0, metadata are of nodes."""
    nodes = [
        {"version": f"4.1.{n}", "payload": f"image{n}", "metadata": metadata.get(f"v{n}", {})}
        for n in range(4)
    ]
    groups = [
        {"edges": [{"from": "4.1.0", "to": target}], "risks": risks}
        for target, risks in conditional
    ]
    return orjson.dumps({"nodes": nodes, "edges": edges, "conditionalEdges": groups})


def updates(body: bytes, version: str = "4.1.0", *, desired: str = "amd64") -> Updates:
    found = read_graph(body)
    return updates_of(found, parse_version(version), "stable", desired=desired, current="amd64")


def judged(found: Updates, results: dict[str, bool | str], *accepted: str) -> Evaluated:
    async def ask(query: str) -> bool:
        result = results[query]
        if isinstance(result, str):
            raise TerminalError(result)
        return result

    return asyncio.run(evaluate(found, ask, accepted))


def versions(releases: tuple[Release, ...]) -> list[str]:
    return [release.version for release in releases]


def test_edges_lead_to_updates_the_newest_first() -> None:
    found = judged(updates(graph([[0, 1], [0, 3], [1, 2]])), {})
    assert versions(found.available) == ["4.1.3", "4.1.1"]
    assert not found.conditional


def test_build_metadata_of_a_version_do_not_matter() -> None:
    assert versions(updates(graph([[0, 1]]), "4.1.0+s390x").available) == ["4.1.1"]


def test_an_update_with_a_risk_is_conditional_even_if_an_edge_leads_there() -> None:
    found = updates(graph([[0, 1], [0, 2]], ("4.1.1", [risk("A", ALWAYS)])))
    assert versions(found.available) == ["4.1.2"]
    assert [each.release.version for each in found.conditional] == ["4.1.1"]


@pytest.mark.parametrize(
    "groups",
    [
        [("4.1.1", [risk("A", ALWAYS)]), ("4.1.1", [risk("B", ALWAYS)])],
        [("4.1.1", [risk("A", {"type": "Other"})])],
        [("4.1.1", [risk("A", {"type": "PromQL", "promql": {"promql": ""}})])],
        [("4.1.1", [risk("A", {"type": "Always", "promql": {"promql": "q"}})])],
    ],
)
def test_what_cannot_be_evaluated_is_offered_in_no_list(groups: list[Any]) -> None:
    found = updates(graph([[0, 1]], *groups))
    assert (found.available, found.conditional) == ((), ())


def test_one_architecture_becomes_several_at_the_same_version() -> None:
    found = updates(graph([[0, 1]]), desired="Multi")
    assert found == Updates(Release("4.1.0", "image0"), (Release("4.1.0", "image0"),))


@pytest.mark.parametrize(
    ("body", "version", "reason", "message"),
    [
        (b"<html>", "4.1.0", "ResponseInvalid", ""),
        (b"[]", "4.1.0", "ResponseInvalid", "it is no update graph"),
        (b'{"nodes": [{"version": "x"}]}', "4.1.0", "ResponseInvalid", "No Major.Minor.Patch"),
        (graph([[0, 1, 2]]), "4.1.0", "ResponseInvalid", "expected 2 fields, found 3"),
        (graph([[0, 9]]), "4.1.0", "ResponseInvalid", "an edge leads to node 9"),
        (graph([]), "4.9.9", "VersionNotFound", "currently reconciling cluster version 4.9.9 not"),
        (
            graph([], ("4.1.9", [risk("A", ALWAYS)])),
            "4.1.0",
            "ResponseInvalid",
            "no node for conditional update 4.1.9",
        ),
        (
            graph([[0, 1]], v1={"url": 3}),
            "4.1.0",
            "ResponseInvalid",
            "invalid recommended update node: URL is not a string: 3",
        ),
        (graph([], v0={"url": 3}), "4.1.0", "ResponseInvalid", "invalid current node: URL"),
    ],
)
def test_answers_that_cannot_be_used_say_why(
    body: bytes, version: str, reason: str, message: str
) -> None:
    with pytest.raises(RetrievalError) as caught:
        updates(body, version)
    assert caught.value.reason == reason
    assert caught.value.message.startswith(message)


@pytest.mark.parametrize(
    ("result", "accepted", "status", "reason", "is_available"),
    [
        (False, "", "True", "NotExposedToRisks", True),
        (True, "", "False", "A", False),
        ("boom", "", "Unknown", "EvaluationFailed", False),
        (True, "A", "True", "AllExposedRisksAccepted", True),
        ("boom", "A", "Unknown", "EvaluationFailed", False),
    ],
)
def test_a_risk_decides_whether_an_update_is_recommended(
    result: bool | str, accepted: str, status: str, reason: str, is_available: bool
) -> None:
    found = judged(updates(graph([], ("4.1.1", [risk("A", promql("q"))]))), {"q": result}, accepted)
    [(update, verdict)] = found.conditional
    assert (verdict.status, verdict.reason) == (status, reason)
    assert update.release.version == "4.1.1"
    assert versions(found.available) == (["4.1.1"] if is_available else [])


def test_several_risks_are_reported_together() -> None:
    risks = [risk("A", ALWAYS), risk("B", promql("q"))]
    [(_, verdict)] = judged(updates(graph([], ("4.1.1", risks))), {"q": "boom"}).conditional
    assert (verdict.status, verdict.reason) == ("False", "MultipleReasons")
    assert verdict.message == (
        "A hurts. http://A\n\n"
        "Could not evaluate exposure to update risk B (boom)\n"
        "  B description: B hurts.\n"
        "  B URL: http://B"
    )


def test_a_name_that_is_no_reason_is_none() -> None:
    [(_, verdict)] = judged(updates(graph([], ("4.1.1", [risk("a-b", ALWAYS)]))), {}).conditional
    assert verdict.reason == "ExposedToRisks"


def test_the_first_rule_that_can_be_evaluated_decides() -> None:
    found = updates(graph([], ("4.1.1", [risk("A", promql("down"), promql("up"))])))
    [(_, verdict)] = judged(found, {"down": "boom", "up": False}).conditional
    assert verdict.status == "True"


def test_own_risks_are_for_some_versions() -> None:
    found = with_risks(updates(graph([[0, 1], [0, 2]])), {read_risk(risk("A", ALWAYS)): ["4.1.2"]})
    assert versions(found.available) == ["4.1.1"]
    [(update, verdict)] = judged(found, {}).conditional
    assert (update.release.version, verdict.reason) == ("4.1.2", "A")


def test_queries_may_be_narrowed_to_one_cluster() -> None:
    found = with_cluster_id(
        updates(graph([], ("4.1.1", [risk("A", promql('up{_id=""}'))]))), "some-cluster"
    )
    assert judged(found, {'up{_id="some-cluster"}': False}).available


ID = "01234567-0123-4123-8123-0123456789ab"
QUESTION = Question("http://service/graph?b=1&a=2", ID, "amd64", "stable-4.1", "4.1.0")


def test_a_request_keeps_the_query_of_its_address_and_sorts_it() -> None:
    asked = f"a=2&arch=amd64&b=1&channel=stable-4.1&id={ID}&version=4.1.0"
    assert request_of(QUESTION).url == f"http://service/graph?{asked}"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"service": ""}, "NoUpstream"),
        ({"service": "http://[::1"}, "InvalidURI"),
        ({"cluster_id": "123"}, "InvalidID"),
        ({"cluster_id": ID.replace("-", "_")}, "InvalidID"),
        ({"cluster_id": f"urn:uuix:{ID}"}, "InvalidID"),
        ({"architecture": ""}, "NoArchitecture"),
        ({"version": ""}, "NoCurrentVersion"),
        ({"channel": ""}, "NoChannel"),
        ({"version": "4.1"}, "InvalidCurrentVersion"),
    ],
)
def test_what_cannot_be_asked_is_reported(changed: dict[str, Any], reason: str) -> None:
    with pytest.raises(RetrievalError) as caught:
        request_of(replace(QUESTION, **changed))
    assert caught.value.reason == reason


@pytest.mark.parametrize("text", [f"urn:uuid:{ID}", f"{{{ID}}}", ID.replace("-", ""), ID.upper()])
def test_identifiers_have_several_forms(text: str) -> None:
    question = Question("http://service", text, "Multi", "stable", "4.1.0")
    assert request_of(question).url == (
        f"http://service?arch=multi&channel=stable&id={ID}&version=4.1.0"
    )
