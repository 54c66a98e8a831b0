"""What pages show of the objects of OLM Classic. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from api.objects import KubeObject, labels_of, name_of, namespace_of
from olm_classic.names import LABEL_COPIED_FROM

Facts = dict[str, Any]
_HINDERING = frozenset(
    {
        "BundleUnpackFailed",
        "CatalogSourcesUnhealthy",
        "InstallPlanFailed",
        "InstallPlanMissing",
        "ResolutionFailed",
    }
)
WAITING = "RequiresApproval"
FAILED = "Failed"


def subscription_facts(obj: KubeObject) -> Facts:
    """What a Subscription asks for, what it has, and the messages of what hinders it."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    hindering = [
        each.get("message") or each.get("reason") or each["type"]
        for each in status.get("conditions") or ()
        if each.get("type") in _HINDERING and each.get("status") == "True"
    ]
    return {
        **_place(obj),
        "package": spec.get("name") or "",
        "channel": spec.get("channel") or "",
        "catalog": f"{spec.get('sourceNamespace') or ''}/{spec.get('source') or ''}",
        "approval": spec.get("installPlanApproval") or "Automatic",
        "installed": status.get("installedCSV") or "",
        "current": status.get("currentCSV") or "",
        "state": status.get("state") or "",
        "plan": (status.get("installPlanRef") or {}).get("name") or "",
        "hindering": hindering,
    }


def plan_facts(obj: KubeObject) -> Facts:
    """What an InstallPlan installs, and its steps by the bundle they are for."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    return {
        **_place(obj),
        "operators": list(spec.get("clusterServiceVersionNames") or ()),
        "approval": spec.get("approval") or "",
        "approved": bool(spec.get("approved")),
        "phase": status.get("phase") or "",
        "message": status.get("message") or "",
        "conditions": list(status.get("conditions") or ()),
        "steps": [_step(each) for each in status.get("plan") or ()],
    }


def _step(step: Mapping[str, Any]) -> Facts:
    resource = step.get("resource") or {}
    api = "/".join(filter(None, (resource.get("group"), resource.get("version"))))
    return {
        "for": step.get("resolving") or "",
        "kind": resource.get("kind") or "",
        "name": resource.get("name") or "",
        "api": api,
        "status": step.get("status") or "",
    }


def waits(plan: Facts) -> bool:
    """Whether an InstallPlan goes on as soon as somebody approves it."""
    return plan["phase"] == WAITING and not plan["approved"]


def operator_facts(obj: KubeObject) -> Facts:
    """How a ClusterServiceVersion does, and what it requires."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    return {
        **_place(obj),
        "title": spec.get("displayName") or name_of(obj),
        "version": spec.get("version") or "",
        "replaces": spec.get("replaces") or "",
        "phase": status.get("phase") or "",
        "reason": status.get("reason") or "",
        "message": status.get("message") or "",
        "requirements": list(status.get("requirementStatus") or ()),
        "conditions": list(status.get("conditions") or ()),
    }


def own_operators(found: Iterable[KubeObject]) -> list[Facts]:
    """Those of all ClusterServiceVersions that are no copies."""
    return [operator_facts(each) for each in found if LABEL_COPIED_FROM not in labels_of(each)]


def source_facts(obj: KubeObject) -> Facts:
    """Where a CatalogSource has its content from, and whether it can be asked."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    connection = status.get("connectionState") or {}
    polled = ((spec.get("updateStrategy") or {}).get("registryPoll") or {}).get("interval")
    return {
        **_place(obj),
        "title": spec.get("displayName") or "",
        "publisher": spec.get("publisher") or "",
        "type": spec.get("sourceType") or "",
        "from": spec.get("image") or spec.get("address") or spec.get("configMap") or "",
        "priority": spec.get("priority") or 0,
        "polled": polled or "",
        "state": connection.get("lastObservedState") or "",
        "connected": connection.get("lastConnect") or "",
        "message": status.get("message") or "",
    }


def group_facts(obj: KubeObject) -> Facts:
    """Whose namespaces the operators of an OperatorGroup watch."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    namespaces = list(status.get("namespaces") or ())
    return {
        **_place(obj),
        "watched": ["all namespaces" if each == "" else each for each in namespaces],
        "selected": spec.get("selector") or {},
        "account": spec.get("serviceAccountName") or "",
        "strategy": spec.get("upgradeStrategy") or "Default",
        "updated": status.get("lastUpdated") or "",
    }


def urgent_facts(
    subscriptions: Sequence[Facts], plans: Sequence[Facts], operators: Sequence[Facts]
) -> list[Facts]:
    """What needs a person: plans that wait or failed, hindered Subscriptions, failed operators."""
    return [
        *(
            _urgent("plans", each, "Waits", _waiting(each), _APPROVE)
            for each in plans
            if waits(each)
        ),
        *(
            _urgent("plans", each, FAILED, each["message"] or "The plan failed.")
            for each in plans
            if each["phase"] == FAILED
        ),
        *(
            _urgent("subscriptions", each, "Blocked", "\n".join(each["hindering"]))
            for each in subscriptions
            if each["hindering"]
        ),
        *(
            _urgent("operators", each, FAILED, each["message"] or each["reason"])
            for each in operators
            if each["phase"] == FAILED
        ),
    ]


_APPROVE = "look at its steps, then approve it"
_KINDS = {"plans": "Install plan", "subscriptions": "Subscription", "operators": "Operator"}


def _waiting(plan: Facts) -> str:
    return f"Waits to be approved: {', '.join(plan['operators'])}"


def _urgent(part: str, facts: Facts, phase: str, message: str, hint: str = "") -> Facts:
    path = f"/classic/{part}/{facts['namespace']}/{facts['name']}"
    return {
        "kind": _KINDS[part],
        "name": facts["name"],
        "path": path,
        "phase": phase,
        "message": message,
        "hint": hint,
    }


def _place(obj: KubeObject) -> Facts:
    return {"namespace": namespace_of(obj), "name": name_of(obj)}
