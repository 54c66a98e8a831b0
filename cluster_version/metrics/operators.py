"""The samples of ClusterOperators, among which the cluster's version counts as `version`."""

from collections import Counter
from collections.abc import Iterable, Iterator

from api.objects import KubeObject, condition, name_of
from cluster_version.metrics.versions import last_completed
from cluster_version.names import CLUSTER_VERSION_NAME
from cluster_version.status.whole import AVAILABLE
from olm_runtime.metrics.exposition import Labels

OPERATOR = "operator"
"""Of the versions of a ClusterOperator, the one that stands for it."""
NOT_FOUND = "ClusterVersionNotFound"
NO_CONDITION = "NoAvailableCondition"

_VALUES = {"True": 1, "False": 0}
"""Of conditions; what else they say has no sample."""


def operators_up(
    cluster_version: KubeObject | None, operators: Iterable[KubeObject]
) -> Iterator[tuple[Labels, float]]:
    """Whether each is available."""
    if cluster_version is None:
        yield _up(CLUSTER_VERSION_NAME, "", NOT_FOUND), 0
    elif said := _known(condition(cluster_version, AVAILABLE)):
        reached = last_completed(cluster_version)
        yield _up(CLUSTER_VERSION_NAME, reached, said.get("reason") or ""), _VALUES[said["status"]]
    for operator in operators:
        available = condition(operator, AVAILABLE)
        reason = NO_CONDITION if available is None else available.get("reason") or ""
        is_up = available is not None and available.get("status") == "True"
        yield _up(name_of(operator), version_of(operator), reason), int(is_up)


def _up(name: str, version: str, reason: str) -> Labels:
    return {"name": name, "version": version, "reason": reason}


def version_of(operator: KubeObject) -> str:
    """The version that stands for a ClusterOperator; "" if it reports none."""
    versions = (operator.get("status") or {}).get("versions") or ()
    return next((each.get("version") or "" for each in versions if each["name"] == OPERATOR), "")


def _known(said: dict[str, str] | None) -> dict[str, str] | None:
    return said if said is not None and said.get("status") in _VALUES else None


def conditions(
    cluster_version: KubeObject | None, operators: Iterable[KubeObject]
) -> Iterator[tuple[Labels, float]]:
    """1 for each condition that is True and 0 for each that is False."""
    if cluster_version is None:
        labels = {"name": CLUSTER_VERSION_NAME, "condition": AVAILABLE, "reason": NOT_FOUND}
        yield labels, 0
    else:
        yield from _conditions(CLUSTER_VERSION_NAME, cluster_version)
    for operator in operators:
        yield from _conditions(name_of(operator), operator)


def _conditions(name: str, obj: KubeObject) -> Iterator[tuple[Labels, float]]:
    for said in filter(_known, (obj.get("status") or {}).get("conditions") or ()):
        labels = {"name": name, "condition": said["type"], "reason": said.get("reason") or ""}
        yield labels, _VALUES[said["status"]]


class Transitions:
    """How often the conditions of ClusterOperators changed their status, by name and type."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()

    def see(self, old: KubeObject | None, new: KubeObject | None) -> None:
        """Counts what a change of a ClusterOperator changed; one that comes or goes has none."""
        if old is None or new is None:
            return
        before, after = _statuses(old), _statuses(new)
        changed = (kind for kind in before | after if before.get(kind) != after.get(kind))
        self.counts.update((name_of(new), kind) for kind in changed)

    def samples(self) -> Iterator[tuple[Labels, float]]:
        """The counts."""
        for (name, kind), count in sorted(self.counts.items()):
            yield {"name": name, "condition": kind}, count


def _statuses(operator: KubeObject) -> dict[str, str]:
    found = (operator.get("status") or {}).get("conditions") or ()
    return {each["type"]: each.get("status") or "" for each in found}
