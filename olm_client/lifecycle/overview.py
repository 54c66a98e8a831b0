"""The state of extensions and catalogs, from their objects: phase, fault, what to do. Pure."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar

from api.objects import KubeObject, condition, is_true, metadata, name_of
from api.olm.v1.conditions import ConditionType, Reason

HINT = "hint: "

Facts = TypeVar("Facts", bound=Mapping[str, Any])


class Phase(StrEnum):
    """The phase of an extension or a catalog, most urgent first."""

    BLOCKED = "Blocked"
    RETRYING = "Retrying"
    DEGRADED = "Degraded"
    DELETING = "Deleting"
    SUSPENDED = "Suspended"
    PENDING = "Pending"
    INSTALLING = "Installing"
    UPDATING = "Updating"
    UNPACKING = "Unpacking"
    INSTALLED = "Installed"
    SERVING = "Serving"
    OFF = "Off"

    @property
    def colour(self) -> str:
        """For terminals."""
        if self in (Phase.BLOCKED, Phase.RETRYING):
            return "red"
        return "green" if self in (Phase.INSTALLED, Phase.SERVING) else "yellow"


class State(NamedTuple):
    """A phase, what is wrong (empty if nothing is), and what to do about it (may be empty)."""

    phase: Phase
    message: str = ""
    hint: str = ""

    @classmethod
    def of_message(cls, phase: Phase, message: str) -> "State":
        """From a condition's message, which ends in hints if it has any."""
        lines = message.splitlines()
        hints = [line.removeprefix(HINT) for line in lines if line.startswith(HINT)]
        rest = "\n".join(line for line in lines if not line.startswith(HINT))
        return cls(phase, rest, "\n".join(hints))


def extension_state(raw: KubeObject) -> State:
    """Of a ClusterExtension."""
    progressing = condition(raw, ConditionType.PROGRESSING)
    message = str((progressing or {}).get("message") or "")
    if metadata(raw).get("deletionTimestamp"):
        held = (progressing or {}).get("reason") == Reason.RETRYING
        return State.of_message(Phase.DELETING, message if held else "")
    if progressing is None or not is_current(raw, progressing):
        return State(Phase.PENDING, "operator-controller has not looked at it yet")
    if progressing.get("status") == "False":
        return State.of_message(Phase.BLOCKED, message)
    if progressing.get("reason") == Reason.SUSPENDED:
        return State.of_message(Phase.SUSPENDED, message)
    if progressing.get("reason") == Reason.RETRYING:
        return State.of_message(Phase.RETRYING, message)
    if progressing.get("reason") == Reason.ROLLING_OUT:
        updating = is_true(raw, ConditionType.INSTALLED)
        return State.of_message(Phase.UPDATING if updating else Phase.INSTALLING, message)
    return _settled(raw)


def _settled(raw: KubeObject) -> State:
    available = condition(raw, ConditionType.AVAILABLE) or {}
    if available.get("status") == "False":
        return State.of_message(Phase.DEGRADED, str(available.get("message") or ""))
    deprecated = condition(raw, ConditionType.DEPRECATED) or {}
    if deprecated.get("status") == "True":
        message = deprecated.get("message")
        return State(Phase.INSTALLED, f"deprecated: {message}" if message else "deprecated")
    return State(Phase.INSTALLED)


def is_current(raw: KubeObject, found: Mapping[str, Any]) -> bool:
    """Whether a condition is about the present generation."""
    return bool(found.get("observedGeneration") == metadata(raw).get("generation"))


def catalog_state(raw: KubeObject) -> State:
    """Of a ClusterCatalog."""
    if (raw.get("spec") or {}).get("availabilityMode") == "Unavailable":
        return State(Phase.OFF, "switched off (spec.availabilityMode)")
    progressing = condition(raw, ConditionType.PROGRESSING) or {}
    message = str(progressing.get("message") or "")
    if progressing.get("status") == "False":
        return State.of_message(Phase.BLOCKED, message)
    if progressing.get("reason") == Reason.RETRYING:
        return State.of_message(Phase.RETRYING, message)
    if is_true(raw, ConditionType.SERVING):
        return State(Phase.SERVING)
    return State(Phase.UNPACKING, message or "catalogd has not looked at it yet")


def installed_bundle(raw: KubeObject) -> Mapping[str, Any]:
    """Name and version of what an extension has installed; empty if nothing."""
    found: Mapping[str, Any] = ((raw.get("status") or {}).get("install") or {}).get("bundle") or {}
    return found


def extension_facts(raw: KubeObject) -> dict[str, Any]:
    """An extension in a line, as data."""
    spec = raw.get("spec") or {}
    desired = (spec.get("source") or {}).get("catalog") or {}
    state, installed = extension_state(raw), installed_bundle(raw)
    return {
        "name": name_of(raw),
        "package": desired.get("packageName", ""),
        "namespace": spec.get("namespace", ""),
        "version": installed.get("version", ""),
        "bundle": installed.get("name", ""),
        "wanted": desired.get("version", ""),
        **_state_facts(state),
    }


def catalog_facts(raw: KubeObject) -> dict[str, Any]:
    """A catalog in a line, as data."""
    spec, status = raw.get("spec") or {}, raw.get("status") or {}
    resolved = ((status.get("resolvedSource") or {}).get("image") or {}).get("ref", "")
    return {
        "name": name_of(raw),
        "priority": spec.get("priority") or 0,
        "image": ((spec.get("source") or {}).get("image") or {}).get("ref", ""),
        "digest": resolved.partition("@")[2],
        "lastUnpacked": status.get("lastUnpacked", ""),
        **_state_facts(catalog_state(raw)),
    }


def _state_facts(state: State) -> dict[str, Any]:
    return {
        "phase": state.phase.value,
        "message": state.message,
        **({"hint": state.hint} if state.hint else {}),
    }


def source_text(raw: KubeObject) -> str:
    """What an extension asks for: package, versions, channels, policy."""
    desired = ((raw.get("spec") or {}).get("source") or {}).get("catalog") or {}
    channels = desired.get("channels") or ()
    version = f"version {desired['version']}" if desired.get("version") else "any version"
    policy = desired.get("upgradeConstraintPolicy") or "CatalogProvided"
    named = f"channels {', '.join(channels)}" if channels else "any channel"
    return f"package {desired.get('packageName', '')}, {version}, {named}, {policy}"


def overview_facts(
    extensions: Iterable[KubeObject], catalogs: Iterable[KubeObject]
) -> dict[str, Any]:
    """The facts of all extensions and catalogs, the most urgent first."""
    return {
        "extensions": urgent_first(map(extension_facts, extensions)),
        "catalogs": urgent_first(map(catalog_facts, catalogs)),
    }


_URGENCY = {phase.value: at for at, phase in enumerate(Phase)}


def urgent_first(found: Iterable[Facts]) -> list[Facts]:
    """Facts of extensions or of catalogs, the most urgent first."""
    return sorted(found, key=lambda facts: _URGENCY[facts["phase"]])
