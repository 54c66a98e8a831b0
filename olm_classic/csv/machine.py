"""The phase that a ClusterServiceVersion enters next. Pure: what it depends on is given.

The checks of `membership` come first at every look; of these here only the phase's own are made.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from api.objects import KubeObject, name_of
from olm_classic.csv.installation import HEALTHY, Installation, State
from olm_classic.csv.phases import Change, Phase, Reason, phase_of
from olm_classic.csv.replacement import Chain, is_in, owned_definitions
from olm_classic.csv.timing import INSTALL_TIMEOUT, failures
from olm_classic.csv.webhooks import invalid_webhooks

GROUP_REASONS = frozenset(
    {Reason.NO_TARGETS, Reason.NO_GROUP, Reason.TOO_MANY_GROUPS, Reason.UNSUPPORTED_GROUP}
)
STRATEGY = "deployment"
"""The only install strategy that there is."""


@dataclass(frozen=True, slots=True)
class ApiServices:
    """How the API services and webhooks that it owns stand.

    issue        what of them is missing or has another CA
    unavailable  whether they are all there, and one does not answer
    error        why the API server says that one never will
    webhooks     why the CA of a webhook cannot be found
    due          whether their certificates are to be made anew
    """

    issue: str = ""
    unavailable: bool = False
    error: str = ""
    webhooks: str = ""
    due: bool = False


@dataclass(frozen=True, slots=True)
class Applied:
    """How an attempt to install ended: no problem, one that may pass, or one that will not."""

    problem: str = ""
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """What the next phase depends on, besides the object; each only where its phase asks for it.

    chain            the ClusterServiceVersions of the namespace
    requirements_met whether all that it requires is there
    gave_way         whether what it lacks is only what its replacement took over
    not_upgradeable  why the one that it replaces may not be replaced, if so
    unadoptable      whether an API service that it owns belongs to another
    applied          in InstallReady: how the attempt to install ended
    installation     its Deployments
    fail_forward     whether its group allows to replace what failed
    rights_changed   whether rights or accounts of the namespace changed since it failed for good
    is_disrupted     whether API services may be away because pods that serve them come or go
    is_paused        whether an installation that fails or is changed again and again has to wait
    """

    now: datetime
    chain: Chain
    requirements_met: bool = True
    gave_way: bool = False
    not_upgradeable: str = ""
    unadoptable: bool = False
    applied: Applied = Applied()
    installation: Installation = HEALTHY
    api_services: ApiServices = ApiServices()
    fail_forward: bool = False
    rights_changed: bool = False
    is_disrupted: bool = False
    is_paused: bool = False


def next_change(csv: KubeObject, facts: Facts) -> Change | None:
    """The phase that a member of a group enters, or why it stays; None for nothing to report."""
    if forward := _forward(csv, facts):
        return forward
    handle = _HANDLERS.get(phase_of(csv.get("status") or {}))
    return handle(csv, facts) if handle else None


def _forward(csv: KubeObject, facts: Facts) -> Change | None:
    """What failed makes room for its replacement, also while it is tried again."""
    replacement = facts.chain.replacement(csv) if facts.fail_forward else None
    if replacement is None or not is_in(csv, Phase.FAILED, Phase.PENDING, Phase.INSTALLING):
        return None
    if not is_in(csv, Phase.FAILED) and not failures(csv.get("status") or {}):
        return None
    text = "Fail Forward is enabled, allowing Failed csv to be replaced by csv: "
    return Change(Phase.REPLACING, Reason.BEING_REPLACED, text + name_of(replacement))


def _created(_: KubeObject, __: Facts) -> Change:
    return Change(Phase.PENDING, Reason.REQUIREMENTS_UNKNOWN, "requirements not yet checked")


def _pending(csv: KubeObject, facts: Facts) -> Change | None:
    if facts.not_upgradeable:
        text = f"operator is not upgradeable: {facts.not_upgradeable}"
        return Change(Phase.PENDING, Reason.NOT_UPGRADEABLE, text)
    refused = _given_way(csv, facts) or _refused(csv, facts)
    if refused is not None:
        return refused
    replaced = facts.chain.replaced(csv)
    if replaced is not None and not is_in(replaced, Phase.REPLACING, Phase.DELETING):
        return None
    text = "all requirements found, attempting install"
    return Change(Phase.INSTALL_READY, Reason.REQUIREMENTS_MET, text)


def _refused(csv: KubeObject, facts: Facts) -> Change | None:
    """Why it cannot be installed as it is."""
    strategy = csv["spec"]["install"]["strategy"]
    if strategy != STRATEGY:
        text = f"install strategy invalid: unrecognized strategy {strategy}"
        return Change(Phase.FAILED, Reason.INVALID_STRATEGY, text)
    if not facts.requirements_met:
        text = "one or more requirements couldn't be found"
        return Change(Phase.PENDING, Reason.REQUIREMENTS_NOT_MET, text)
    if problem := invalid_webhooks(csv["spec"].get("webhookdefinitions") or ()):
        return Change(Phase.FAILED, Reason.INVALID_WEBHOOK, problem)
    if any(facts.chain.owners(name, csv) for name in sorted(owned_definitions(csv))):
        text = "conflicting CRD owner in namespace"
        return Change(Phase.FAILED, Reason.OWNER_CONFLICT, text)
    if facts.unadoptable:
        return Change(Phase.FAILED, Reason.OWNER_CONFLICT, "unable to adopt APIService")
    return None


def _install_ready(_: KubeObject, facts: Facts) -> Change:
    applied = facts.applied
    if applied.problem:
        final = Reason.INSTALL_FAILED_FOR_GOOD if applied.is_final else Reason.INSTALL_FAILED
        return Change(Phase.FAILED, final, f"install strategy failed: {applied.problem}")
    text = "waiting for install components to report healthy"
    return Change(Phase.INSTALLING, Reason.INSTALL_SUCCEEDED, text)


def _installing(csv: KubeObject, facts: Facts) -> Change:
    if facts.api_services.webhooks:
        return _webhooks_failed(Reason.INSTALL_WAITING, facts)
    found = facts.installation
    text = f"installing: {found.text}"
    if found.state in {State.DRIFTED, State.MISSING}:
        return Change(Phase.INSTALL_READY, Reason.INSTALL_WAITING, text)
    if found.state is State.EXPIRED:
        return Change(Phase.FAILED, Reason.INSTALL_CHECK_FAILED, f"install failed: {found.text}")
    waits = text if not found.is_healthy else _api_services_wait(facts.api_services)
    if not waits:
        text = "install strategy completed with no errors"
        return Change(Phase.SUCCEEDED, Reason.INSTALL_SUCCEEDED, text)
    if _since_transition(csv, facts.now) >= INSTALL_TIMEOUT:
        return Change(Phase.FAILED, Reason.INSTALL_CHECK_FAILED, "install timeout")
    return Change(Phase.INSTALLING, Reason.INSTALL_WAITING, waits)


def _replaced(csv: KubeObject, facts: Facts) -> Change | None:
    replacement = facts.chain.replacement(csv)
    if replacement is None:
        return None
    text = f"being replaced by csv: {name_of(replacement)}"
    return Change(Phase.REPLACING, Reason.BEING_REPLACED, text)


def _given_way(csv: KubeObject, facts: Facts) -> Change | None:
    """What its replacement took from it does not come back: neither would ever go on."""
    lacks = not facts.requirements_met and facts.gave_way
    return _replaced(csv, facts) if lacks else None


def _succeeded(csv: KubeObject, facts: Facts) -> Change | None:
    if replaced := _replaced(csv, facts):
        return replaced
    services = facts.api_services
    if services.webhooks:
        return _webhooks_failed(Reason.COMPONENT_UNHEALTHY, facts)
    if services.issue:
        return Change(Phase.FAILED, Reason.API_SERVICE_ISSUE, services.issue)
    if services.due:
        text = "CSV owns resources that require a cert refresh"
        return Change(Phase.PENDING, Reason.NEEDS_CERTIFICATES, text)
    if not facts.requirements_met:
        return Change(Phase.FAILED, Reason.REQUIREMENTS_NOT_MET, "requirements no longer met")
    if not facts.installation.is_healthy:
        drifted = facts.installation.state is State.DRIFTED
        if drifted and facts.is_paused:
            return None
        phase = Phase.INSTALL_READY if drifted else Phase.FAILED
        text = f"installing: {facts.installation.text}"
        return Change(phase, Reason.COMPONENT_UNHEALTHY, text)
    if services.error:
        text = f"APIService install failed: {services.error}"
        return Change(Phase.FAILED, Reason.API_SERVICE_FAILED, text)
    waits = _api_services_wait(services)
    if waits and not facts.is_disrupted:
        return Change(Phase.FAILED, Reason.COMPONENT_UNHEALTHY, waits)
    return None


def _failed(csv: KubeObject, facts: Facts) -> Change | None:
    reason = str((csv.get("status") or {}).get("reason"))
    if reason == Reason.INSTALL_FAILED_FOR_GOOD:
        text = "Cluster resources changed state"
        changed = Change(Phase.PENDING, Reason.CLUSTER_CHANGED, text)
        return changed if facts.rights_changed else None
    if reason in _PASSED:
        return Change(Phase.PENDING, Reason.REQUIREMENTS_UNKNOWN, _PASSED[reason])
    if given_way := _given_way(csv, facts):
        return given_way
    if not facts.requirements_met:
        return Change(Phase.PENDING, Reason.REQUIREMENTS_NOT_MET, "requirements not met")
    return _refused(csv, facts) or _reinstalled(facts)


def _reinstalled(facts: Facts) -> Change | None:
    """What follows for one that failed, and of which nothing else is wrong."""
    services, found = facts.api_services, facts.installation
    if found.is_healthy and services == ApiServices():
        text = "install strategy completed with no errors"
        return Change(Phase.SUCCEEDED, Reason.INSTALL_SUCCEEDED, text)
    if facts.is_paused:
        return None
    if services.webhooks:
        return _webhooks_failed(Reason.NEEDS_REINSTALL, facts)
    if services.issue:
        return Change(Phase.PENDING, Reason.API_SERVICE_NEEDS_REINSTALL, services.issue)
    if services.due:
        text = "owned APIServices need cert refresh"
        return Change(Phase.PENDING, Reason.NEEDS_CERTIFICATES, text)
    if not found.is_healthy:
        phase = Phase.INSTALL_READY if found.state is State.DRIFTED else Phase.PENDING
        return Change(phase, Reason.NEEDS_REINSTALL, f"installing: {found.text}")
    return Change(Phase.PENDING, Reason.NEEDS_REINSTALL, _api_services_wait(services))


def _replacing(csv: KubeObject, facts: Facts) -> Change | None:
    """Only the oldest of a chain goes, and not before something works that replaces it."""
    chain = facts.chain
    if chain.replaced(csv) is not None:
        return None
    newer = chain.replacements(csv)
    awaited = newer[-1:] if facts.fail_forward else newer
    if not any(is_in(each, Phase.SUCCEEDED) for each in awaited):
        return None
    text = "has been replaced by a newer ClusterServiceVersion that has successfully installed."
    return Change(Phase.DELETING, Reason.REPLACED, text)


_HANDLERS: Mapping[Phase, Callable[[KubeObject, Facts], Change | None]] = {
    Phase.NONE: _created,
    Phase.PENDING: _pending,
    Phase.INSTALL_READY: _install_ready,
    Phase.INSTALLING: _installing,
    Phase.SUCCEEDED: _succeeded,
    Phase.FAILED: _failed,
    Phase.REPLACING: _replacing,
}
_PASSED: Mapping[str, str] = {
    **dict.fromkeys(GROUP_REASONS, "InstallModes now support target namespaces"),
    Reason.INVALID_MODES: "InstallModes now support target namespaces",
    Reason.API_CONFLICT: "OperatorGroup no longer intersecting with conflicting owner",
    Reason.STATIC_APIS: "static OperatorGroup and intersecting groups now support providedAPIs",
}
"""Of reasons that the checks of membership gave: what is reported once they pass."""


def _api_services_wait(services: ApiServices) -> str:
    return "apiServices not installed" if services.unavailable else ""


def _webhooks_failed(reason: Reason, facts: Facts) -> Change:
    text = f"Webhook install failed: {facts.api_services.webhooks}"
    return Change(Phase.INSTALL_READY, reason, text)


def _since_transition(csv: KubeObject, now: datetime) -> timedelta:
    text = (csv.get("status") or {}).get("lastTransitionTime")
    return now - datetime.fromisoformat(text) if text else timedelta()
