"""What commands say of updates, for programs: the names of the fields stay."""

from datetime import datetime

from cluster_version.client_output.control_plane_view import (
    control_plane_insights,
    count_operators,
)
from cluster_version.client_output.node_pools import Phase, Pool
from cluster_version.client_output.node_pools_view import pool_insights
from cluster_version.client_output.objects import TRUE, Json, part
from cluster_version.client_output.recommend_view import Update, Warn, updates_of
from cluster_version.client_output.status_view import Cluster, is_updating, pools_in
from cluster_version.client_output.update_health import Insight
from cluster_version.client_output.upgrade_request import Answer


def overview_facts(cluster_version: Json, warn: Warn) -> Json:
    """The version of a cluster, where its updates come from, and all of them."""
    desired, spec = part(cluster_version, "status", "desired"), part(cluster_version, "spec")
    return {
        "version": desired.get("version") or "",
        "image": desired.get("image") or "",
        "channel": spec.get("channel") or "",
        "channels": desired.get("channels") or [],
        "upstream": spec.get("upstream") or "",
        "updates": [update_facts(each) for each in updates_of(cluster_version, warn)],
    }


def answer_facts(answer: Answer) -> Json:
    """What was asked of a cluster; `patch` is what was written, null where nothing was to do."""
    return {"message": answer.text.strip(), "patch": answer.patch}


def update_facts(update: Update) -> Json:
    """A release, and what speaks against it: null where nothing does."""
    why = update.why or {}
    against = {key: why.get(key) or "" for key in ("reason", "message")} if why else None
    return {
        "version": update.version,
        "image": update.release.get("image") or "",
        "url": update.release.get("url") or "",
        "recommended": why.get("status", TRUE),
        "against": against,
    }


def status_facts(cluster: Cluster, now: datetime) -> Json:
    """How far the update of a cluster is. Raises TerminalError, as the text for people does."""
    pools = pools_in(cluster, now)
    counted = count_operators(cluster.version, cluster.operators, cluster.nodes_image)
    insights = [each for pool in pools for each in pool_insights(pool)]
    insights += control_plane_insights(cluster.version, cluster.operators, now, done=counted.done)
    return {
        "updating": is_updating(cluster, pools),
        "version": part(cluster.version, "status", "desired").get("version") or "",
        "operators": {
            "total": counted.total,
            "updated": counted.updated,
            "updating": [name for name, _ in counted.updating],
            "waiting": counted.waiting,
            "unavailable": counted.unavailable,
            "degraded": counted.degraded,
        },
        "pools": [_pool(each) for each in pools],
        "health": [_insight(each) for each in insights if each.complete],
    }


def _pool(pool: Pool) -> Json:
    return {
        "name": pool.name,
        "assessment": pool.assessment,
        "total": len(pool.nodes),
        "updated": pool.count(Phase.UPDATED),
        "nodes": [
            {
                "name": each.name,
                "assessment": each.assessment.name.title(),
                "phase": each.phase.name.title(),
                "version": each.version,
                "message": each.message,
            }
            for each in pool.nodes
        ],
    }


def _insight(insight: Insight) -> Json:
    return {
        "since": insight.since.isoformat() if insight.since else None,
        "level": str(insight.level),
        "impact": insight.impact,
        "message": insight.summary,
        "description": insight.description,
        "reference": insight.reference,
    }
