"""Updates as the status of a ClusterVersion lists them. Pure.

Source of the rules: upstream's notes, sections 1.2 and 4.1.
"""

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from api.openshift.config.v1.clusterversion import MAX_CONDITIONAL_UPDATES
from api.openshift.config.v1.releases import MAX_NAMED_RISKS, MAX_RISK_NAME, MAX_RISKS
from cluster_version.status.condition_list import ConditionList
from cluster_version.status.whole import release_json
from cluster_version.updates.graph import ALWAYS, PROMQL, ConditionalUpdate, Risk, Rule
from cluster_version.updates.risks import APPLIES, RECOMMENDED, Evaluated, Recommendation

Json = dict[str, Any]


def listed(
    evaluated: Evaluated, status: Mapping[str, Any], now: datetime, *, weighed: bool = False
) -> Json:
    """The members of a status that list updates, as they follow on those of `status`.

    `weighed` is whether the cluster adds to the risks: then each says whether it applies. What the
    API server would refuse to store is left out, as it would refuse the rest with it.
    """
    before = {
        (each.get("release") or {}).get("image"): each.get("conditions") or ()
        for each in status.get("conditionalUpdates") or ()
    }
    longest = MAX_RISK_NAME if weighed else math.inf
    storable = [each for each in evaluated.conditional if _is_storable(each[0], longest)]
    shown = storable[:MAX_CONDITIONAL_UPDATES]
    risks = _exposed(evaluated, shown, status, now) if weighed else {}
    return {
        "availableUpdates": [release_json(release) for release in evaluated.available] or None,
        "conditionalUpdates": [
            _conditional(update, verdict, before.get(update.release.image, ()), now)
            | (_named(update, risks) if weighed else {})
            for update, verdict in shown
        ],
        "conditionalUpdateRisks": [risk for _, risk in sorted(risks.items())][:MAX_NAMED_RISKS],
    }


def _exposed(
    evaluated: Evaluated,
    shown: Iterable[tuple[ConditionalUpdate, Recommendation]],
    status: Mapping[str, Any],
    now: datetime,
) -> dict[str, Json]:
    """The risks of the updates that are shown, by name, each with whether it applies."""
    before = {
        each.get("name"): each.get("conditions") or ()
        for each in status.get("conditionalUpdateRisks") or ()
    }
    risks: dict[str, Json] = {}
    for risk in (risk for update, _ in shown for risk in update.risks):
        exposure = evaluated.exposures[risk.name]
        conditions = ConditionList.of(before.get(risk.name, ()), now)
        conditions.set(APPLIES, exposure.status, exposure.reason, exposure.message)
        complete = [{"message": "", **each} for each in conditions.conditions]
        risks.setdefault(risk.name, _risk(risk) | {"conditions": complete})
    return risks


def _named(update: ConditionalUpdate, risks: Mapping[str, Json]) -> Json:
    names = [risk.name for risk in update.risks]
    return {"riskNames": names, "risks": [risks[name] for name in names]}


def _conditional(
    update: ConditionalUpdate,
    verdict: Recommendation,
    before: Iterable[Mapping[str, Any]],
    now: datetime,
) -> Json:
    conditions = ConditionList.of(before, now)
    conditions.set(RECOMMENDED, verdict.status, verdict.reason, verdict.message)
    return {
        "release": release_json(update.release),
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


def _is_storable(update: ConditionalUpdate, longest_name: float) -> bool:
    names = {risk.name for risk in update.risks}
    return 1 <= len(names) == len(update.risks) <= MAX_RISKS and all(
        0 < len(risk.name) <= longest_name and risk.message and _is_uri(risk.url)
        for risk in update.risks
    )


def _is_uri(text: str) -> bool:
    try:
        return bool(urlsplit(text).scheme) or text.startswith("/")
    except ValueError:
        return False
