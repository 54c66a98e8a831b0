"""The target of a rollback, its obstacles, and what it changes. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from api.objects import KubeObject, metadata
from api.olm.v1.clusterextension import ClusterExtension, UpgradeConstraintPolicy
from olm_content.crds import Finding, Validator, check
from olm_content.crds.going import Going, everything_going
from olm_rollout.ownership import controller_of
from olm_runtime.errors import TerminalError
from operator_controller.apply.history import is_lower
from operator_controller.apply.revisions import Revision, Revisions


@dataclass(frozen=True, slots=True)
class Plan:
    """A rollback of an extension from what is installed to another revision."""

    extension: ClusterExtension
    installed: Revision | None
    target: Revision

    @property
    def patch(self) -> dict[str, Any]:
        """The change of the spec, as a merge patch."""
        policy = UpgradeConstraintPolicy.SELF_CERTIFIED.value
        return _of_catalog(self.target.bundle.version, policy)

    def way_on(self, raw: KubeObject) -> dict[str, Any]:
        """The merge patch that makes the spec of the extension `raw` again what it is now."""
        catalog = raw["spec"]["source"]["catalog"]
        return _of_catalog(catalog.get("version"), catalog.get("upgradeConstraintPolicy"))


def _of_catalog(version: str | None, policy: str | None) -> dict[str, Any]:
    catalog = {"version": version, "upgradeConstraintPolicy": policy}
    return {"spec": {"source": {"catalog": catalog}}}


def choose(extension: ClusterExtension, revisions: Revisions, number: int | None) -> Plan:
    """The plan; without a number, to the newest revision of a lower version that rolled out.

    Raises TerminalError saying why there is none.
    """
    name, installed = extension.metadata.name, revisions.installed
    existing = [r for r in revisions.every if not r.deleting]
    if number is None:
        target = _previous(existing, installed)
        if target is None:
            raise TerminalError(
                f"{name} has no revision of a lower version that rolled out",
                hint=f"see what is kept: olm history {name}; any of them can be named with --to",
            )
        return Plan(extension, installed, target)
    target = next((r for r in existing if r.number == number), None)
    if target is None:
        raise TerminalError(
            f"revision {number} of {name} is not kept",
            hint=f"kept are {', '.join(str(r.number) for r in existing) or 'none'}; "
            f"see them: olm history {name}",
        )
    _refuse_pointless(name, target, installed)
    desired = extension.spec.source.catalog.package_name
    if target.bundle.package != desired:
        raise TerminalError(
            f"revision {number} of {name} is of package {target.bundle.package}, and the spec asks "
            f"for {desired}"
        )
    return Plan(extension, installed, target)


def _previous(existing: Iterable[Revision], installed: Revision | None) -> Revision | None:
    lower = [
        r
        for r in existing
        if r.succeeded and (installed is None or is_lower(r.bundle, installed.bundle))
    ]
    return lower[-1] if lower else None


def _refuse_pointless(name: str, target: Revision, installed: Revision | None) -> None:
    if not target.succeeded:
        raise TerminalError(
            f"revision {target.number} of {name} never rolled out",
            hint=f"see why: olm history {name} -o yaml",
        )
    if installed is not None and target.bundle == installed.bundle:
        raise TerminalError(
            f"revision {target.number} of {name} holds {target.bundle.name}, which is installed",
            hint="revisions of one bundle differ by what the extension asked for: "
            "change spec.config instead",
        )


def obstacles(
    plan: Plan, definitions: Mapping[str, KubeObject], live: Mapping[str, KubeObject]
) -> tuple[Finding, ...]:
    """Why the target's definitions may not replace the live ones; none where they may."""
    found = (check(live[name], crd) for name, crd in definitions.items() if name in live)
    everything = tuple(finding for findings in found for finding in findings)
    if plan.extension.spec.crd_upgrade_safety_enforced:
        return everything
    return tuple(filter(is_impossible, everything))


def going(
    extension: KubeObject, definitions: Mapping[str, KubeObject], live: Mapping[str, KubeObject]
) -> tuple[Going, ...]:
    """What of the live definitions the target lacks; those of other owners stay."""
    uid = metadata(extension)["uid"]
    ours = {name: crd for name, crd in live.items() if (controller_of(crd) or {}).get("uid") == uid}
    return everything_going(ours, definitions)


def is_impossible(finding: Finding) -> bool:
    """Whether the API server refuses it too, with any setting of the spec."""
    return finding.validator in (Validator.SCOPE, Validator.STORED_VERSION)


def appliers(raw: KubeObject) -> list[str]:
    """The field managers that apply `spec.source.catalog`."""
    owners = []
    for entry in metadata(raw).get("managedFields") or ():
        catalog: Any = entry.get("fieldsV1") or {}
        for step in ("f:spec", "f:source", "f:catalog"):
            catalog = catalog.get(step) or {}
        if catalog and entry.get("operation") == "Apply":
            owners.append(str(entry.get("manager")))
    return sorted(set(owners))
