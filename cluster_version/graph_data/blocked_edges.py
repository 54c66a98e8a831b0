"""Updates that are blocked, or have a risk. Source of the rules: upstream's notes, section 4.3."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cluster_version.graph_data.errors import GraphDataError
from cluster_version.graph_data.releases import check_version

Json = Mapping[str, Any]


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
    rules = document.get("matchingRules")
    if not document.get("name") and not rules:
        return BlockedEdge(version, architecture, pattern, None)
    if not (document.get("name") and isinstance(rules, list) and rules):
        raise GraphDataError(f"the blocked edge to {target} needs both name and matchingRules")
    texts = {key: str(document.get(key) or "") for key in ("url", "name", "message")}
    return BlockedEdge(version, architecture, pattern, {**texts, "matchingRules": rules})
