"""A resolution as JSON between processes: the question, and the answer. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from api.objects import KubeObject
from olm_classic.dialect import Dialect
from olm_classic.names import ANNOTATION_PROPERTIES
from olm_classic.resolve.entries import SourceKey
from olm_classic.resolve.errors import ResolutionError, UnsatisfiableError
from olm_classic.resolve.readers import Catalog, MemoryReader, Reader
from olm_classic.resolve.resolver import Chosen, Namespace, Resolution
from olm_classic.resolve.stored import entry_of_row, row_of
from olm_classic.resolve.wanted import Wanted

Json = dict[str, Any]
DESCRIBED = ("customresourcedefinitions", "apiservicedefinitions")
OpenIndex = Callable[[str, SourceKey], Reader]


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be resolved, in how many seconds and bytes of memory."""

    namespace: Namespace
    dialect: Dialect
    seconds: float
    memory: int


def question_out(asked: Question, files: Mapping[SourceKey, str]) -> Json:
    """The question; `files` are the indexes of the catalogs that have one."""
    namespace = asked.namespace
    return {
        "name": namespace.name,
        "globalNamespace": namespace.global_namespace,
        "groups": namespace.groups,
        "subscriptions": namespace.subscriptions,
        "csvs": [needed_of(csv) for csv in namespace.csvs],
        "catalogs": [
            [*each.key, each.priority, files.get(each.key, ""), each.problem]
            for each in namespace.catalogs
        ],
        "wanted": [namespace.wanted.csvs, [*namespace.wanted.source]],
        "dialect": asked.dialect,
        "seconds": asked.seconds,
        "memory": asked.memory,
    }


def needed_of(csv: KubeObject) -> KubeObject:
    """What a resolution reads of an installed CSV, which may be large."""
    metadata, spec = csv["metadata"], csv.get("spec") or {}
    annotations = metadata.get("annotations") or {}
    return {
        "metadata": {
            "name": metadata["name"],
            "labels": metadata.get("labels") or {},
            "annotations": {
                key: annotations[key] for key in (ANNOTATION_PROPERTIES,) if key in annotations
            },
        },
        "spec": {key: spec[key] for key in ("version", "replaces") if key in spec}
        | {key: _apis(spec[key]) for key in DESCRIBED if spec.get(key)},
        "status": {"phase": (csv.get("status") or {}).get("phase", "")},
    }


def _apis(described: Mapping[str, Any]) -> Json:
    fields = ("name", "group", "version", "kind")
    return {
        side: [{key: each[key] for key in fields if key in each} for each in listed or ()]
        for side, listed in described.items()
    }


def question_in(value: Json, open_index: OpenIndex) -> Question:
    """The question as it was asked."""
    catalogs = []
    for name, namespace, priority, file, problem in value["catalogs"]:
        key = SourceKey(name, namespace)
        content = open_index(file, key) if file else MemoryReader()
        catalogs.append(Catalog(key, priority, content, problem))
    csvs, source = value["wanted"]
    return Question(
        Namespace(
            value["name"],
            value["globalNamespace"],
            tuple(value["groups"]),
            tuple(value["subscriptions"]),
            tuple(value["csvs"]),
            tuple(catalogs),
            Wanted(tuple(csvs), SourceKey(*source)),
        ),
        Dialect(value["dialect"]),
        value["seconds"],
        value["memory"],
    )


def answer_out(found: Resolution | ResolutionError) -> Json:
    """The answer, or why there is none."""
    if isinstance(found, UnsatisfiableError):
        return {"unsatisfiable": found.texts, "hint": found.hint}
    if isinstance(found, ResolutionError):
        return {"error": found.message, "hint": found.hint}
    planned = {each.entry.id for each in found.planned}
    return {
        "chosen": [[*_chosen_out(each), each.entry.id in planned] for each in found.chosen],
        "generated": found.generated,
        "updated": found.updated,
        "adopted": found.adopted,
    }


def answer_in(value: Json) -> Resolution:
    """The answer. Raises the error that it is: ResolutionError, UnsatisfiableError."""
    if "unsatisfiable" in value:
        raise UnsatisfiableError(value["unsatisfiable"], hint=value["hint"])
    if "error" in value:
        raise ResolutionError(value["error"], hint=value["hint"])
    chosen = [(_chosen_in(row), row[-1]) for row in value["chosen"]]
    return Resolution(
        tuple(each for each, _ in chosen),
        tuple(each for each, planned in chosen if planned),
        tuple((name, spec) for name, spec in value["generated"]),
        tuple((name, csv) for name, csv in value["updated"]),
        tuple((name, csv) for name, csv in value["adopted"]),
    )


def _chosen_out(chosen: Chosen) -> list[Any]:
    entry = chosen.entry
    properties = [dict(each) for each in entry.properties]
    return [
        row_of(entry),
        list(entry.source),
        entry.default_channel,
        properties,
        chosen.replaces,
        sorted(chosen.updates),
    ]


def _chosen_in(row: list[Any]) -> Chosen:
    fields, source, default_channel, properties, replaces, updates = row[:6]
    entry = entry_of_row(fields, SourceKey(*source), default_channel, properties)
    return Chosen(entry, replaces, frozenset(updates))
