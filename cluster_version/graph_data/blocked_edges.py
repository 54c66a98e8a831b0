"""Updates that are blocked, or have a risk. Source of the rules: upstream's notes, section 4.3."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cluster_version.graph_data.errors import GraphDataError
from cluster_version.graph_data.releases import check_version

Json = Mapping[str, Any]
_TEXTS = ("url", "name", "message")
_ALWAYS, _PROMQL = "Always", "PromQL"


@dataclass(frozen=True, slots=True)
class BlockedEdge:
    """Edges to a version that are blocked; with a risk they become conditional.

    architecture  the only one it is about, or "" for every one
    origins       what versions with `+<architecture>` are searched for
    """

    to: str
    architecture: str
    origins: re.Pattern[str]
    risk: Json | None


def blocked_edge(document: Json) -> BlockedEdge:
    """A file of `blocked-edges`. Raises GraphDataError."""
    target, origins = document.get("to"), document.get("from")
    if not (isinstance(target, str) and isinstance(origins, str)):
        raise GraphDataError("a blocked edge needs the texts 'to' and 'from'")
    check_version(target)
    version, _, architecture = target.partition("+")
    try:
        pattern = re.compile(origins)
    except re.error as error:
        raise GraphDataError(f"'from' of the blocked edge to {target}: {error}") from error
    if not document.get("name") and not document.get("matchingRules"):
        return BlockedEdge(version, architecture, pattern, None)
    return BlockedEdge(version, architecture, pattern, _risk(document, target))


def _risk(document: Json, target: str) -> Json:
    """What clusters are shown: they take none without these texts. Raises GraphDataError."""
    texts = {key: document.get(key) for key in _TEXTS}
    missing = [key for key, text in texts.items() if not (isinstance(text, str) and text)]
    if missing:
        raise GraphDataError(f"the risk of updates to {target} needs {', '.join(missing)}")
    rules = document.get("matchingRules")
    if not (isinstance(rules, list) and rules and all(map(_is_rule, rules))):
        raise GraphDataError(
            f"the risk of updates to {target} needs matchingRules",
            hint="a rule is `type: Always`, or `type: PromQL` with a query in `promql.promql`",
        )
    return {**texts, "matchingRules": rules}


def _is_rule(rule: Any) -> bool:
    """Whether clusters understand a rule, or may do so one day: its type may be a new one."""
    if not (isinstance(rule, dict) and isinstance(rule.get("type"), str)):
        return False
    promql = rule.get("promql")
    if rule["type"] == _PROMQL:
        return isinstance(promql, dict) and bool(promql.get("promql"))
    return rule["type"] != _ALWAYS or promql is None
