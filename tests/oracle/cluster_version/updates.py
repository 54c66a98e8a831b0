"""Which updates there are, and the risks of them: families b and k."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from cluster_version.payload.release import Release
from cluster_version.updates.errors import RetrievalError
from cluster_version.updates.graph import (
    ConditionalUpdate,
    Updates,
    read_graph,
    read_risk,
    updates_of,
    with_cluster_id,
    with_risks,
)
from cluster_version.updates.query_cache import QueryCache
from cluster_version.updates.retrieval import (
    MEDIA_TYPE,
    Question,
    failed,
    request_of,
    unexpected_status,
)
from cluster_version.updates.risks import RECOMMENDED, Recommendation, evaluate
from olm_runtime.errors import OLMError, TerminalError
from tests.oracle.cluster_version.contents import release_of

Json = dict[str, Any]
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


class _Service:
    """An update service and a metrics store that give the answers of a case."""

    def __init__(self, given: Json, graphs: Path | None) -> None:
        self._given = given
        self._graphs = graphs
        self.requests: list[Json] = []
        self.asked: list[str] = []

    def get(self, url: str) -> bytes:
        """The graph. Raises RetrievalError."""
        place = urlsplit(url)
        agent = self._given["userAgent"]
        request = {"method": "GET", "accept": MEDIA_TYPE, "userAgent": agent}
        self.requests.append({**request, "path": place.path or "/", "query": place.query})
        code = self._given.get("statusCode") or HTTPStatus.OK
        if code != HTTPStatus.OK:
            raise unexpected_status(code, HTTPStatus(code).phrase)
        if self._given.get("rawBody") is not None:
            return str(self._given["rawBody"]).encode()
        if self._given.get("graphFile"):
            assert self._graphs is not None, "--graphs says where the graphs are"
            return (self._graphs / str(self._given["graphFile"])).read_bytes()
        return orjson.dumps(self._given["graph"])

    async def ask(self, query: str) -> bool:
        """What a query finds. Raises TerminalError."""
        self.asked.append(query)
        results = self._given.get("promql") or {}
        result = results.get(query, results.get("*"))
        if isinstance(result, str):
            raise TerminalError(result)
        return bool(result)


def graph(given: Json, graphs: Path | None = None) -> Json:
    service = _Service(given, graphs)
    try:
        updates = _retrieved(given, service)
    except RetrievalError as error:
        updates = Updates(Release(""))
        condition = {"status": "False", "reason": error.reason, "message": error.message}
    else:
        condition = {"status": "True", "reason": "", "message": ""}
    accepted = given.get("acceptRisks") or () if given.get("acceptRisksGate") else ()
    found = asyncio.run(evaluate(updates, service.ask, accepted))
    return {
        "requests": service.requests or None,
        "retrievedUpdates": condition,
        "current": release_of(updates.current),
        "availableUpdates": [release_of(each) for each in found.available] or None,
        "conditionalUpdates": [_judged(*each) for each in found.conditional] or None,
        "promqlEvaluated": service.asked or None,
    }


def _retrieved(given: Json, service: _Service) -> Updates:
    """Raises RetrievalError."""
    upstream = given.get("upstream") or f"http://service{given.get('upstreamPath') or ''}"
    names = ("clusterID", "desiredArch", "channel", "version")
    question = Question(
        "" if upstream == "-" else upstream, *(given.get(key) or "" for key in names)
    )
    request = request_of(question)
    try:
        updates = updates_of(
            read_graph(service.get(request.url)),
            request.version,
            question.channel,
            desired=question.architecture,
            current=given.get("currentArch") or "",
        )
    except RetrievalError as error:
        raise failed(error) from error
    versions = given.get("sourceVersions") or {}
    own = {read_risk(each): versions[each["name"]] for each in given.get("sourceRisks") or ()}
    updates = with_risks(updates, own) if given.get("acceptRisksGate") else updates
    inject = given.get("injectClusterID")
    return with_cluster_id(updates, question.cluster_id) if inject else updates


def _judged(update: ConditionalUpdate, verdict: Recommendation) -> Json:
    condition = {
        "status": verdict.status.value,
        "reason": verdict.reason,
        "message": verdict.message,
    }
    return {
        "release": release_of(update.release),
        "riskNames": [risk.name for risk in update.risks],
        "conditions": [{"type": RECOMMENDED, **condition}],
    }


def _promql_cache(given: Json) -> Json:
    now, took = BEGIN, timedelta()
    evaluated: list[str] = []

    async def evaluate_query(query: str) -> bool:
        nonlocal now
        now += took
        evaluated.append(query)
        result = given["results"][query]
        if isinstance(result, str):
            raise TerminalError(result)
        return bool(result)

    cache = QueryCache(evaluate_query, lambda: now)
    steps = []
    for step in given["steps"]:
        now = max(now, BEGIN + timedelta(milliseconds=step.get("atMs") or 0))
        took = timedelta(milliseconds=step.get("tookMs") or 0)
        evaluated.clear()
        try:
            answer: Json = {"match": asyncio.run(cache.ask(step["query"])), "error": None}
        except OLMError as error:
            answer = {"error": error.message}
        steps.append({**answer, "evaluated": [*evaluated]})
    return {"steps": steps}


OPERATIONS: Mapping[str, Callable[[Json], Json]] = {
    "promqlcache": _promql_cache,
}
