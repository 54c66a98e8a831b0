"""What speaks against an update of a ClusterVersion to a release that was loaded.

Source of the rules: upstream's notes, section 7.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from api.objects import KubeObject, condition, is_true
from cluster_version.decisions.failure import Failure
from cluster_version.decisions.objects import (
    completed_version,
    current_version,
    desired_of,
    has_overrides,
    history_of,
)
from cluster_version.decisions.recommended import not_recommended
from olm_content.versions import Version, VersionError, parse_version

ROLLBACK, GIANT_HOP = "ClusterVersionRollback", "ClusterVersionGiantHop"
UPGRADEABLE = "ClusterVersionUpgradeable"

_BRIDGE = 4, 5
"""The major versions between which there is a way, to the first minor version of the second."""


def failures(cluster_version: KubeObject | None, version: str) -> tuple[Failure, ...]:
    """What speaks against a release of that version; nothing while there is no ClusterVersion."""
    if cluster_version is None:
        return ()
    checks: Sequence[Callable[[KubeObject, str], Failure | None]] = (
        _rollback,
        _giant_hop,
        _upgradeable,
        not_recommended,
    )
    found = (check(cluster_version, version) for check in checks)
    return tuple(failure for failure in found if failure is not None)


@dataclass(frozen=True, slots=True)
class _Step:
    """The current version and that of the target."""

    current: Version
    target: Version

    @property
    def is_backward(self) -> bool:
        return self.target.key < self.current.key

    @property
    def keeps_minor(self) -> bool:
        return _minor(self.target) == _minor(self.current)


def _minor(version: Version) -> tuple[int, int]:
    return version.major, version.minor


def _step(name: str, cluster_version: KubeObject, version: str) -> _Step | Failure:
    """What a precondition judges.

    That the current version is none does not block: an update may be the way out.
    """
    try:
        current = parse_version(current_version(cluster_version))
    except VersionError as error:
        return Failure(name, "InvalidCurrentVersion", error.message, blocks=False)
    try:
        return _Step(current, parse_version(version))
    except VersionError as error:
        return Failure(name, "InvalidDesiredVersion", error.message)


# --- no way back but to the previous patch -------------------------------------------------------


def _rollback(cluster_version: KubeObject, version: str) -> Failure | None:
    step = _step(ROLLBACK, cluster_version, version)
    if isinstance(step, Failure):
        return step
    if not step.is_backward:
        return None
    problem = f"{step.target} is less than the current target {step.current}"
    found = _previous(cluster_version, step.current)
    if found is None:
        problem += ", and the cluster has no previous Semantic Version"
        return Failure(ROLLBACK, "LowDesiredVersion", problem)
    previous, image = found
    if step.target.key != previous.key:
        problem += ", and the only supported rollback is to the cluster's previous version"
        return Failure(ROLLBACK, "LowDesiredVersion", f"{problem} {previous} ({image})")
    if step.keeps_minor:
        return None
    problem += " and matches the cluster's previous version, but rollbacks that change major or"
    return Failure(ROLLBACK, "LowDesiredVersion", f"{problem} minor versions are not recommended")


def _previous(cluster_version: KubeObject, current: Version) -> tuple[Version, str] | None:
    """The release before the current one and its image; None if it has no semantic version."""
    own = str(current), desired_of(cluster_version).get("image") or ""
    for entry in history_of(cluster_version):
        version, image = entry.get("version") or "", entry.get("image") or ""
        if (version, image) != own:
            try:
                return parse_version(version), image
            except VersionError:
                return None
    return None


# --- no more than one minor version at once ------------------------------------------------------


def _giant_hop(cluster_version: KubeObject, version: str) -> Failure | None:
    step = _step(GIANT_HOP, cluster_version, version)
    if isinstance(step, Failure):
        return step
    target, current = step.target, step.current
    if target.major > current.major:
        crosses = (current.major, target.major) == _BRIDGE
        if crosses and not target.minor:
            return None
        beyond = f" or to {target.major}.0" if crosses else ""
        problem = (
            f"{target} has a larger major version than the current target {current} "
            f"({target.major} > {current.major}), and only updates within the current major "
            f"version{beyond} are supported."
        )
        return Failure(GIANT_HOP, "MajorVersionUpdate", problem)
    if target.minor > current.minor + 1:
        problem = (
            f"{target} is more than one minor version beyond the current target {current} "
            f"({target.major}.{target.minor} > {current.major}.({current.minor}+1)), and only "
            "updates within the current minor version or to the next minor version are supported."
        )
        return Failure(GIANT_HOP, "MultipleMinorVersionsUpdate", problem)
    return None


# --- what the condition Upgradeable holds back ---------------------------------------------------


def _upgradeable(cluster_version: KubeObject, version: str) -> Failure | None:
    found = condition(cluster_version, "Upgradeable")
    if found is None or found.get("status") != "False":
        return None
    step = _step(UPGRADEABLE, cluster_version, version)
    if isinstance(step, Failure):
        return step
    if step.target.key > step.current.key and not step.keeps_minor:
        return Failure(UPGRADEABLE, found.get("reason") or "", found.get("message") or "")
    if has_overrides(cluster_version):
        return _overridden(step)
    return _retarget(cluster_version, step) if step.keeps_minor else None


def _overridden(step: _Step) -> Failure:
    problem = (
        f"Retarget from {step.current} to {step.target} is not blocked by "
        "ClusterVersionOverridesSet. But the cluster-version operator is not managing these "
        "resources; they are currently the responsibility of the agent that set the overrides: "
        "Disabling ownership via cluster version overrides prevents upgrades between minor or "
        "major versions. Please remove overrides before requesting a minor or major version update."
    )
    return Failure(UPGRADEABLE, "ClusterVersionOverridesSet", problem, blocks=False)


def _retarget(cluster_version: KubeObject, step: _Step) -> Failure | None:
    """A patch within an update to another minor version that is not finished."""
    if not is_true(cluster_version, "Progressing"):
        return None
    installed = completed_version(cluster_version)
    try:
        before = parse_version(installed)
    except VersionError:
        return None
    if _minor(before) >= _minor(step.current):
        return None
    part = "Major" if before.major < step.current.major else "Minor"
    problem = (
        f"Retarget to {step.target} while a {part.lower()} version update from {installed} to "
        f"{step.current} is in progress"
    )
    return Failure(UPGRADEABLE, f"{part}VersionClusterUpdateInProgress", problem, blocks=False)
