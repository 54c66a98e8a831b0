"""Updates as the status of a ClusterVersion lists them. Pure.

Source of the rules: upstream's notes, sections 1.2 and 4.1.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from api.openshift.config.v1.clusterversion import MAX_CONDITIONAL_UPDATES
from api.openshift.config.v1.releases import MAX_RISKS
from cluster_version.status.condition_list import ConditionList
from cluster_version.status.whole import told
from cluster_version.updates.graph import ALWAYS, PROMQL, ConditionalUpdate, Risk, Rule
from cluster_version.updates.risks import RECOMMENDED, Evaluated, Recommendation

Json = dict[str, Any]


def listed(evaluated: Evaluated, status: Mapping[str, Any], now: datetime) -> Json:
    """The members of a status that tell of updates, as they follow on those of `status`.

    What the API server would refuse to store is left out, as it would refuse the rest with it.
    """
    before = {
        (each.get("release") or {}).get("image"): each.get("conditions") or ()
        for each in status.get("conditionalUpdates") or ()
    }
    conditional = [
        _conditional(update, verdict, before.get(update.release.image, ()), now)
        for update, verdict in evaluated.conditional
        if _is_storable(update)
    ]
    return {
        "availableUpdates": [told(release) for release in evaluated.available] or None,
        "conditionalUpdates": conditional[:MAX_CONDITIONAL_UPDATES],
    }


def _conditional(
    update: ConditionalUpdate,
    verdict: Recommendation,
    before: Iterable[Mapping[str, Any]],
    now: datetime,
) -> Json:
    conditions = ConditionList.of(before, now)
    conditions.set(RECOMMENDED, verdict.status, verdict.reason, verdict.message)
    return {
        "release": told(update.release),
        "risks": [_risk(risk) for risk in update.risks],
        "conditions": conditions.conditions,
    }


def _risk(risk: Risk) -> Json:
    rules = [_rule(rule) for rule in risk.rules]
    return {"name": risk.name, "url": risk.url, "message": risk.message, "matchingRules": rules}


def _rule(rule: Rule) -> Json:
    if rule.query:
        return {"type": PROMQL, "promql": {"promql": rule.query}}
    return {"type": ALWAYS}


def _is_storable(update: ConditionalUpdate) -> bool:
    names = {risk.name for risk in update.risks}
    return 1 <= len(names) == len(update.risks) <= MAX_RISKS and all(
        risk.name and risk.message and _is_uri(risk.url) for risk in update.risks
    )


def _is_uri(text: str) -> bool:
    try:
        return bool(urlsplit(text).scheme) or text.startswith("/")
    except ValueError:
        return False
