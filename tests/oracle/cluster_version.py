"""A golden case of the Cluster Version Operator to its answer, in the format of the goldens."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from cluster_version.io.task_runner import run
from cluster_version.payload.capabilities import (
    ClusterCapabilities,
    cluster_capabilities,
    implicit_after,
)
from cluster_version.payload.contents import load
from cluster_version.payload.inclusion import Capabilities, Filters, left_out
from cluster_version.payload.manifests import Manifest, ManifestError, parse_manifests
from cluster_version.payload.release import Release, ReleaseError, described
from cluster_version.payload.task_graph import File, Group, State, rotated, task_graph
from cluster_version.status import history
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
from olm_content.versions import VersionError, parse_version
from olm_runtime.errors import OLMError, TerminalError
from tests.oracle import cluster_version_client, cluster_version_merge

Json = dict[str, Any]
GRAPH = "graph"
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def answer(line: Json, graphs: Path | None = None) -> Json:
    """What is written for a line. Raises KeyError for an operation that there is not."""
    return {"id": line["id"], "output": compute(line["op"], line["input"], graphs)}


def compute(operation: str, given: Json, graphs: Path | None = None) -> Json:
    """The answer of an operation; `graphs` is the folder of the graphs that cases refer to."""
    return _graph(given, graphs) if operation == GRAPH else OPERATIONS[operation](given)


# --- the order of manifests ------------------------------------------------------------------


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


# --- versions and history --------------------------------------------------------------------


def _semver(given: Json) -> Json:
    output: Json = {}
    keys = []
    for name in ("a", "b"):
        try:
            keys.append(parse_version(given[name]).key)
            output[f"{name}Error"] = None
        except VersionError as error:
            output[f"{name}Error"] = error.message
    if len(keys) > 1:
        output["compare"] = (keys[0] > keys[1]) - (keys[0] < keys[1])
    return output


def _history(given: Json) -> Json:
    entries: tuple[history.Entry, ...] = ()
    desired = {"image": "", "version": ""}
    for number, step in enumerate(given["steps"]):
        asked = step["desired"]
        reached = history.Reached(
            asked["image"],
            asked["version"],
            is_completed=bool(step.get("completed")),
            verified=bool(step.get("verified")),
            local=bool(step.get("local")),
            accepted_risks=step.get("acceptedRisks") or "",
        )
        entries = history.recorded(entries, reached, BEGIN + timedelta(seconds=number))
        if reached.image:
            desired = {"image": reached.image, "version": reached.version}
    written = [_entry(entry) for entry in entries]
    is_empty_list = bool(given["steps"]) and not written
    return {"history": written or None, "desired": desired, "historyIsEmptyList": is_empty_list}


def _entry(entry: history.Entry) -> Json:
    told = {"acceptedRisks": entry.accepted_risks} if entry.accepted_risks else {}
    return {
        **told,
        "completedStep": _step(entry.completed),
        "image": entry.image,
        "startedStep": _step(entry.started),
        "state": entry.state.value,
        "verified": entry.verified,
        "version": entry.version,
    }


def _step(time: datetime | None) -> int | None:
    return None if time is None else (time - BEGIN).seconds


def _prune(given: Json) -> Json:
    entries = [
        history.Entry(f"{number}:{each['image']}", each["version"], history.State(each["state"]))
        for number, each in enumerate(given["history"] or ())
    ]
    left = history.pruned(entries, given["max"])
    removed = [number for number, entry in enumerate(entries) if entry not in left]
    return {"length": len(left), "removedIndex": removed[0] if removed else -1}


# --- what of a release is for a cluster ------------------------------------------------------


def _include(given: Json) -> Json:
    status = given["capabilities"]
    known = Capabilities(
        (status or {}).get("knownCapabilities") or (),
        (status or {}).get("enabledCapabilities") or (),
    )
    filters = Filters(
        exclude=given["exclude"],
        feature_set=given["featureSet"],
        profile=given["profile"],
        feature_gates=given["enabledFeatureGates"] or () if given["featureGatesKnown"] else None,
        major_version=given["majorVersion"],
        capabilities=None if status is None else known,
        overrides=given["overrides"] or (),
        any_capability=given["allowUnknownCapabilities"],
    )
    reason = left_out(given["manifest"], filters)
    return {"included": False, "why": reason} if reason else {"included": True}


def _parse(given: Json) -> Json:
    try:
        found = list(parse_manifests("", given["text"].encode()))
    except ManifestError as error:
        return {"error": error.message, "manifests": None}
    return {"error": None, "manifests": _named(found)}


def _named(manifests: list[Manifest] | tuple[Manifest, ...]) -> list[Json] | None:
    named = []
    for manifest in manifests:
        identity = manifest.identity
        place = {"namespace": identity.namespace} if identity.namespace else {}
        version = {"apiVersion": manifest.object["apiVersion"], "kind": identity.kind}
        named.append({**version, "name": identity.name, **place})
    return named or None


def _capabilities(given: Json) -> Json:
    before = (*(given["priorEnabled"] or ()), *(given["alwaysEnable"] or ()))
    found = cluster_capabilities(given["spec"], before, given["enabledFeatureGates"] or ())
    return {
        "known": sorted(found.known),
        "enabled": sorted(found.enabled),
        "implicitlyEnabled": sorted(found.implicit) or None,
    }


def _implicit(given: Json) -> Json:
    sets = (frozenset(given[key] or ()) for key in ("known", "enabled", "implicit"))
    found = implicit_after(
        ClusterCapabilities(*sets),
        [Manifest("", each) for each in given["currentManifests"] or ()],
        [Manifest("", each) for each in given["updateManifests"] or ()],
    )
    return {"implicitlyEnabled": sorted(found) or None}


def _load(given: Json) -> Json:
    files = {path: text.encode() for path, text in given["files"].items()}
    filters = Filters(
        exclude=given["exclude"],
        feature_set=given["featureSet"],
        profile=given["profile"],
        feature_gates=given["enabledFeatureGates"] or (),
    )
    image = given["releaseImage"]
    try:
        payload = load(files, image, filters, machine="amd64", folder="<dir>")
    except ReleaseError as error:
        told = {"error": error.message}
        return told | ({"reason": error.reason} if error.reason else {})
    return {
        "release": _release(payload.release),
        "architecture": payload.architecture,
        "manifests": _named(payload.manifests),
        "versionHash": payload.hash,
    }


def _release(release: Release) -> Json:
    more = {
        "url": release.url,
        "channels": list(release.channels),
        "architecture": release.architecture,
    }
    named = {"version": release.version, "image": release.image}
    return named | {key: value for key, value in more.items() if value}


def _metadata(given: Json) -> Json:
    release, problems = described("", "", given["metadata"] or {})
    return {"error": "\n".join(problems) or None, "release": _release(release)}


# --- which updates there are -----------------------------------------------------------------


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
        told = {"method": "GET", "accept": MEDIA_TYPE, "userAgent": agent}
        self.requests.append({**told, "path": place.path or "/", "query": place.query})
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


def _graph(given: Json, graphs: Path | None = None) -> Json:
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
        "current": _release(updates.current),
        "availableUpdates": [_release(each) for each in found.available] or None,
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
    told = {"status": verdict.status.value, "reason": verdict.reason, "message": verdict.message}
    return {
        "release": _release(update.release),
        "riskNames": [risk.name for risk in update.risks],
        "conditions": [{"type": RECOMMENDED, **told}],
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
        now = max(now, BEGIN + timedelta(milliseconds=step["atMs"]))
        took = timedelta(milliseconds=step["tookMs"])
        evaluated.clear()
        try:
            told: Json = {"match": asyncio.run(cache.ask(step["query"])), "error": None}
        except OLMError as error:
            told = {"error": error.message}
        steps.append({**told, "evaluated": [*evaluated]})
    return {"steps": steps}


OPERATIONS: Mapping[str, Callable[[Json], Json]] = {
    "taskgraph": _task_graph,
    "rungraph": _run_graph,
    "shift": _shift,
    "semver": _semver,
    "history": _history,
    "prune": _prune,
    "include": _include,
    "parse": _parse,
    "capabilities": _capabilities,
    "implicit": _implicit,
    "load": _load,
    "metadata": _metadata,
    GRAPH: _graph,
    "promqlcache": _promql_cache,
    **cluster_version_client.OPERATIONS,
    **cluster_version_merge.OPERATIONS,
}
"""What is computed for each operation that there is yet."""
