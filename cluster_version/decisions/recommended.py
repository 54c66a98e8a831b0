"""Warnings of an update that is not recommended; it is no reason to refuse the update.

Source of the rules: upstream's notes, section 7.
"""

from typing import Any

from api.objects import KubeObject, condition
from cluster_version.decisions.failure import Failure
from cluster_version.decisions.objects import current_version, spec_of, status_of

Json = dict[str, Any]

NAME = "ClusterVersionRecommendedUpdate"


def not_recommended(cluster_version: KubeObject, version: str) -> Failure | None:
    """Warns of alerts, and of an update that is not among the available ones."""
    way = f"from {current_version(cluster_version)} to {version}"
    found = _alerts(cluster_version, way), _not_available(cluster_version, version, way)
    warnings = [warning for warning in found if warning]
    if len(warnings) < len(found):
        return warnings[0] if warnings else None
    return Failure(
        "|".join(warning.name for warning in warnings),
        "|".join(filter(None, (warning.reason for warning in warnings))),
        "\n".join(warning.message for warning in warnings),
        blocks=False,
    )


def _alerts(cluster_version: KubeObject, way: str) -> Failure | None:
    """Warns of firing alerts that are risks of all updates and are not accepted."""
    desired = spec_of(cluster_version).get("desiredUpdate") or {}
    accepted = {each.get("name") for each in desired.get("acceptRisks") or ()}
    names = {
        risk.get("name") or ""
        for risk in status_of(cluster_version).get("conditionalUpdateRisks") or ()
        if risk.get("name") not in accepted and _is_alert(condition({"status": risk}, "Applies"))
    }
    if not names:
        return None
    problem = "Those alerts have to be accepted as risks before updates:"
    return _warning(
        "alertMightImpactUpdate",
        f"Update {way} is not recommended:\n\n{problem} {', '.join(sorted(names))}",
    )


def _is_alert(found: Json | None) -> bool:
    """Whether a risk applies because of an alert."""
    return (
        found is not None
        and found.get("status") == "True"
        and str(found.get("reason") or "").startswith("Alert:")
    )


def _not_available(cluster_version: KubeObject, version: str, way: str) -> Failure | None:
    status = status_of(cluster_version)
    if any((each.get("version") or "") == version for each in status.get("availableUpdates") or ()):
        return None
    for update in status.get("conditionalUpdates") or ():
        if ((update.get("release") or {}).get("version") or "") == version:
            return _conditional(update, way)
    if not spec_of(cluster_version).get("channel"):
        unknown = f"so the recommended status of updating {way} is unknown."
        return _warning("NoChannel", f"Configured channel is unset, {unknown}")
    return _warning("UnknownUpdate", _unknown(condition(cluster_version, "RetrievedUpdates"), way))


def _conditional(update: Json, way: str) -> Failure | None:
    found = condition({"status": update}, "Recommended")
    if found is None:
        problem = "has a status.conditionalUpdates entry, but no Recommended condition."
        return _warning("UnknownConditionType", f"Update {way} {problem}")
    status, reason, message = (found.get(key) or "" for key in ("status", "reason", "message"))
    if status == "True":
        return None
    if status == "False":
        return _warning(reason, f"Update {way} is not recommended:\n\n{message}")
    return _warning(reason, f"Update {way} is Recommended={status}: {reason}: {message}")


def _unknown(retrieved: Json | None, way: str) -> str:
    unknown = f"so the recommended status of updating {way} is unknown."
    if retrieved is None:
        return f"No RetrievedUpdates, {unknown}"
    known = f"RetrievedUpdates={retrieved.get('status')} ({retrieved.get('reason') or ''})"
    if retrieved.get("status") != "True":
        return f"{known}, {unknown}"
    return f"{known}, so the update {way} is probably neither recommended nor supported."


def _warning(reason: str, message: str) -> Failure:
    return Failure(NAME, reason, message, blocks=False)
