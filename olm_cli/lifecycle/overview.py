"""How extensions and catalogs do, from their objects: a phase, what hinders, what to do. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from api.objects import KubeObject, condition, is_true, metadata, name_of
from api.olm.v1.conditions import ConditionType, Reason

HINT = "hint: "


class Phase(StrEnum):
    """Where an extension or a catalog stands; the order is that of urgency."""

    BLOCKED = "Blocked"
    RETRYING = "Retrying"
    DEGRADED = "Degraded"
    DELETING = "Deleting"
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


@dataclass(frozen=True, slots=True)
class Standing:
    """A phase, what hinders (empty if nothing does), and what to do about it (may be empty)."""

    phase: Phase
    message: str = ""
    hint: str = ""

    @classmethod
    def told(cls, phase: Phase, message: str) -> "Standing":
        """From a condition's message, which ends in hints if it has any."""
        lines = message.splitlines()
        hints = [line.removeprefix(HINT) for line in lines if line.startswith(HINT)]
        rest = "\n".join(line for line in lines if not line.startswith(HINT))
        return cls(phase, rest, "\n".join(hints))


def standing_of(raw: KubeObject) -> Standing:
    """Of a ClusterExtension."""
    progressing = condition(raw, ConditionType.PROGRESSING)
    message = str((progressing or {}).get("message") or "")
    if metadata(raw).get("deletionTimestamp"):
        held = (progressing or {}).get("reason") == Reason.RETRYING
        return Standing.told(Phase.DELETING, message if held else "")
    if progressing is None or not is_current(raw, progressing):
        return Standing(Phase.PENDING, "operator-controller has not looked at it yet")
    if progressing.get("status") == "False":
        return Standing.told(Phase.BLOCKED, message)
    if progressing.get("reason") == Reason.RETRYING:
        return Standing.told(Phase.RETRYING, message)
    if progressing.get("reason") == Reason.ROLLING_OUT:
        updating = is_true(raw, ConditionType.INSTALLED)
        return Standing.told(Phase.UPDATING if updating else Phase.INSTALLING, message)
    return _settled(raw)


def _settled(raw: KubeObject) -> Standing:
    available = condition(raw, ConditionType.AVAILABLE) or {}
    if available.get("status") == "False":
        return Standing.told(Phase.DEGRADED, str(available.get("message") or ""))
    deprecated = condition(raw, ConditionType.DEPRECATED) or {}
    if deprecated.get("status") == "True":
        return Standing(Phase.INSTALLED, f"deprecated: {deprecated.get('message')}")
    return Standing(Phase.INSTALLED)


def is_current(raw: KubeObject, found: Mapping[str, Any]) -> bool:
    """Whether a condition speaks of the spec as it is."""
    return bool(found.get("observedGeneration") == metadata(raw).get("generation"))


def catalog_standing(raw: KubeObject) -> Standing:
    """Of a ClusterCatalog."""
    if (raw.get("spec") or {}).get("availabilityMode") == "Unavailable":
        return Standing(Phase.OFF, "switched off (spec.availabilityMode)")
    progressing = condition(raw, ConditionType.PROGRESSING) or {}
    message = str(progressing.get("message") or "")
    if progressing.get("status") == "False":
        return Standing.told(Phase.BLOCKED, message)
    if progressing.get("reason") == Reason.RETRYING:
        return Standing.told(Phase.RETRYING, message)
    if is_true(raw, ConditionType.SERVING):
        return Standing(Phase.SERVING)
    return Standing(Phase.UNPACKING, message or "catalogd has not looked at it yet")


def installed_bundle(raw: KubeObject) -> Mapping[str, Any]:
    """Name and version of what an extension has installed; empty if nothing."""
    found: Mapping[str, Any] = ((raw.get("status") or {}).get("install") or {}).get("bundle") or {}
    return found


def extension_facts(raw: KubeObject) -> dict[str, Any]:
    """An extension in a line, as data."""
    spec = raw.get("spec") or {}
    wanted = (spec.get("source") or {}).get("catalog") or {}
    standing, installed = standing_of(raw), installed_bundle(raw)
    return {
        "name": name_of(raw),
        "package": wanted.get("packageName", ""),
        "namespace": spec.get("namespace", ""),
        "version": installed.get("version", ""),
        "bundle": installed.get("name", ""),
        "wanted": wanted.get("version", ""),
        **_standing(standing),
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
        **_standing(catalog_standing(raw)),
    }


def _standing(standing: Standing) -> dict[str, Any]:
    return {
        "phase": standing.phase.value,
        "message": standing.message,
        **({"hint": standing.hint} if standing.hint else {}),
    }


def wish_text(raw: KubeObject) -> str:
    """What an extension asks for: package, versions, channels, policy."""
    wanted = ((raw.get("spec") or {}).get("source") or {}).get("catalog") or {}
    channels = wanted.get("channels") or ()
    version = f"version {wanted['version']}" if wanted.get("version") else "any version"
    policy = wanted.get("upgradeConstraintPolicy") or "CatalogProvided"
    named = f"channels {', '.join(channels)}" if channels else "any channel"
    return f"package {wanted.get('packageName', '')}, {version}, {named}, {policy}"
