"""Reads the cases of this folder; README.md says what they mean."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent
PLURALS = ("clustercatalogs", "clusterextensions", "clusterobjectsets")

UPDATES = (("", "then"), ("/status", "status"), ("/status", "status-again"))
"""Subresource and key of the requests after the first, in the order in which they are sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One row: an object, what is then sent, and what comes of it."""

    name: str
    object: dict[str, Any]
    patches: tuple[tuple[str, dict[str, Any]], ...]
    """Subresource and merge patch of each update, in order."""
    refused: list[dict[str, str]]
    """Field and end of message of each complaint, sorted by field."""
    stored: dict[str, Any]


class CaseLoader(yaml.CSafeLoader):
    """YAML with `!text [part, times, ...]` and `!list [entry, times]`."""


def _text(loader: yaml.CSafeLoader, node: yaml.Node) -> str:
    assert isinstance(node, yaml.SequenceNode)
    parts = loader.construct_sequence(node)
    return "".join(part * times for part, times in zip(parts[::2], parts[1::2], strict=True))


def _list(loader: yaml.CSafeLoader, node: yaml.Node) -> list[Any]:
    assert isinstance(node, yaml.SequenceNode)
    entry, times = loader.construct_sequence(node, deep=True)
    return [entry] * times


CaseLoader.add_constructor("!text", _text)
CaseLoader.add_constructor("!list", _list)


def load_cases(plural: str) -> list[Case]:
    """The cases of a kind, in the order of their file."""
    with (FOLDER / f"{plural}.yaml").open(encoding="utf-8") as file:
        data = yaml.load(file, CaseLoader)
    return [_case(data["base"], index, row) for index, row in enumerate(data["cases"])]


def full_case(plural: str) -> Case:
    """The case that sets every field of a kind."""
    return next(case for case in load_cases(plural) if case.name == "every field")


def load_versions(verdict: str) -> list[str]:
    """The version ranges that are `accepted` or `refused`."""
    text = (FOLDER / "versions.yaml").read_text(encoding="utf-8")
    versions: list[str] = yaml.load(text, yaml.CSafeLoader)[verdict]
    return versions


def merge_patch(target: Any, patch: Any) -> Any:
    """JSON merge patch (RFC 7396)."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), value)
    return result


def field_of(complaint: dict[str, str]) -> str:
    """The field that a complaint is about."""
    return next(iter(complaint))


def _case(base: dict[str, Any], index: int, row: dict[str, Any]) -> Case:
    named = merge_patch(base, {"metadata": {"name": f"case-{index}"}})
    return Case(
        name=row["name"],
        object=merge_patch(named, row.get("with", {})),
        patches=tuple((place, row[key]) for place, key in UPDATES if key in row),
        refused=sorted(row.get("refused", []), key=field_of),
        stored=row.get("stored", {}),
    )
