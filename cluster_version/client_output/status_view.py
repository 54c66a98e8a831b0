"""What `status` prints: how far an update of a cluster is, and what hinders it.

Source of the rules: upstream's notes, section 16.3.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from api.objects import condition
from cluster_version.client_output.control_plane_view import (
    architectures_change,
    control_plane_insights,
    control_plane_section,
    count_operators,
)
from cluster_version.client_output.durations import SECOND, moment, rounded
from cluster_version.client_output.node_pools import MASTER, Pool, pools_of
from cluster_version.client_output.node_pools_view import nodes_table, pool_insights, pools_table
from cluster_version.client_output.objects import TRUE, Json, part
from cluster_version.client_output.update_health import alert_insights, health_section
from cluster_version.client_output.upgrade_view import Form
from olm_runtime.errors import TerminalError

NOT_UPDATING = "The cluster is not updating.\n"


class Details(StrEnum):
    """Of which section all is shown."""

    NONE = "none"
    ALL = "all"
    NODES = "nodes"
    HEALTH = "health"
    OPERATORS = "operators"

    def shows(self, section: "Details") -> bool:
        """Whether all of a section is shown."""
        return self in (Details.ALL, section)


@dataclass(frozen=True)
class Cluster:
    """The objects that a status is read from, as the API has them."""

    version: Json
    operators: Sequence[Json]
    pools: Sequence[Json] = ()
    nodes: Sequence[Json] = ()
    configs: Sequence[Json] = ()
    """MachineConfigs, which say the version of what a node has."""
    alerts: Sequence[Json] = ()
    nodes_image: str = ""
    """The image of the Deployment machine-config-operator."""


def status_page(
    cluster: Cluster,
    now: datetime,
    *,
    details: Details = Details.NONE,
    seen: datetime | None = None,
    form: Form = Form.DOCUMENT,
) -> str:
    """The whole text. `seen` is when the nodes were read, where that is not `now`.

    Raises TerminalError of a cluster without the objects of an OpenShift cluster.
    """
    progressing = _progressing(cluster)
    history = _history(cluster)
    pools = pools_in(cluster, seen or now)
    workers = [each for each in pools if each.name != MASTER]
    if not is_updating(cluster, pools):
        return NOT_UPDATING
    began = moment(history[0].get("startedTime")) if history else None
    began = began or moment(progressing.get("lastTransitionTime")) or now
    counted = count_operators(cluster.version, cluster.operators, cluster.nodes_image)
    insights = [each for pool in pools for each in pool_insights(pool)]
    insights += alert_insights(cluster.alerts, began)
    insights += control_plane_insights(cluster.version, cluster.operators, now, done=counted.done)
    operators, nodes = details.shows(Details.OPERATORS), details.shows(Details.NODES)
    masters = [each for each in pools if each.name == MASTER]
    return "".join(
        (
            control_plane_section(cluster.version, counted, now, detailed=operators, form=form),
            *(nodes_table(each, detailed=nodes) for each in masters),
            _workers(workers, detailed=nodes),
            "\n",
            health_section(
                insights,
                rounded(now - began, SECOND),
                now,
                detailed=details.shows(Details.HEALTH),
            ),
        )
    )


def pools_in(cluster: Cluster, now: datetime) -> Sequence[Pool]:
    """The pools with their nodes. Raises TerminalError."""
    history = _history(cluster)
    running = _progressing(cluster)["status"] == TRUE
    return pools_of(
        cluster.pools,
        cluster.nodes,
        cluster.configs,
        history[0].get("version") if history else None,
        now,
        moving=running and architectures_change(history),
    )


def is_updating(cluster: Cluster, pools: Sequence[Pool]) -> bool:
    """Whether operators or nodes are on their way. Raises TerminalError."""
    running = _progressing(cluster)["status"] == TRUE
    return running or not all(each.complete for each in pools if each.name != MASTER)


def _history(cluster: Cluster) -> Sequence[Json]:
    return part(cluster.version, "status").get("history") or []


def _progressing(cluster: Cluster) -> Json:
    if not cluster.operators:
        raise TerminalError(
            "no cluster operator information available - you must be connected to an OpenShift "
            "version 4 server"
        )
    found = condition(cluster.version, "Progressing")
    if found is None:
        raise TerminalError(
            "no current Progressing info, see `oc describe clusterversion` for more details.\n"
        )
    return found


def _workers(pools: Sequence[Pool], *, detailed: bool) -> str:
    if not any(each.nodes for each in pools):
        return ""
    tables = "".join(nodes_table(each, detailed=detailed) for each in pools)
    return f"\n= Worker Upgrade =\n{pools_table(pools)}{tables}"
