"""What firing alerts say about whether now is a good time for an update.

Source of the rules: upstream's notes, section 16.3.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from cluster_version.client_output.objects import FALSE, TRUE, Json
from cluster_version.decisions.alerts import (
    GROUPS,
    group_of,
    is_firing,
    message_of,
    name_of,
    reason_of,
)

PREFIX = "recommended"


@dataclass(frozen=True)
class Finding:
    """A condition of the cluster; its issue is the name under which people accept it."""

    type: str
    status: str
    reason: str
    message: str
    issue: str = ""

    @property
    def good(self) -> bool:
        """Whether it speaks for an update."""
        return self.status == TRUE


def findings(alerts: Sequence[Json]) -> Sequence[Finding]:
    """What each alert of a group says, and which groups have none."""
    firing: list[Finding] = []
    groups = set()
    for alert in alerts:
        group = group_of(alert)
        if group and is_firing(alert):
            firing.append(_finding(alert, group, len(firing)))
            groups.add(group)
    quiet = [group for group in GROUPS if group not in groups]
    return firing + [Finding(f"{PREFIX}/{group}", TRUE, "AsExpected", "") for group in quiet]


def _finding(alert: Json, group: str, index: int) -> Finding:
    name = name_of(alert)
    return Finding(
        type=f"{PREFIX}/{group}/{name}/{index}",
        status=FALSE,
        reason=reason_of(alert),
        message=message_of(alert, group),
        issue=name,
    )
