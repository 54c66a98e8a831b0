"""The revisions of an extension as its history: what made each, and what has become of it. Pure."""

from enum import StrEnum

from api.objects import condition
from api.olm.v1.clusterextension import BundleMetadata, CatalogFilter, UpgradeConstraintPolicy
from api.olm.v1.conditions import ConditionType, Reason
from olm_content.versions import VersionError, parse_bundle_version
from operator_controller.apply.revisions import BundleIdentity, Revision, Revisions

Bundle = BundleIdentity | BundleMetadata


class Cause(StrEnum):
    """What made a revision."""

    INSTALL = "Install"
    SPEC = "SpecChanged"
    ROLLBACK = "Rollback"
    CATALOG = "CatalogChanged"
    RENDERED = "RenderedAnew"


class State(StrEnum):
    """What has become of a revision."""

    INSTALLED = "Installed"
    ROLLING_OUT = "RollingOut"
    FAILED = "Failed"
    ARCHIVED = "Archived"
    DELETING = "Deleting"


def cause_of(history: Revisions, bundle: BundleIdentity, generation: int) -> Cause:
    """What makes a revision of this bundle, which the extension's generation comes to.

    A rollback is a change of the spec that leads to a lower version.
    """
    before = history.latest or (history.every[-1] if history.every else None)
    if before is None:
        return Cause.INSTALL
    if before.generation != generation:
        return Cause.ROLLBACK if is_lower(bundle, before.bundle) else Cause.SPEC
    return Cause.CATALOG if before.bundle != bundle else Cause.RENDERED


def is_lower(bundle: Bundle, than: Bundle) -> bool:
    """Whether the version of a bundle is lower; versions that cannot be read are not."""
    try:
        version, other = (parse_bundle_version(b.version, b.release) for b in (bundle, than))
    except VersionError:
        return False
    return version.key < other.key


def state_of(revision: Revision, history: Revisions) -> State:
    """The state in `olm history`; an archived one that never rolled out has failed."""
    if revision.deleting:
        return State.DELETING
    if revision.archived:
        return State.ARCHIVED if revision.succeeded else State.FAILED
    if revision.succeeded:
        return State.INSTALLED if revision == history.installed else State.ARCHIVED
    found = condition(revision.raw, ConditionType.PROGRESSING) or {}
    faulty = found.get("status") == "False" or found.get("reason") == Reason.RETRYING
    return State.FAILED if faulty else State.ROLLING_OUT


def pinned(desired: CatalogFilter, history: Revisions) -> BundleIdentity | None:
    """The bundle of an existing revision that the spec names by its exact version, if it does.

    With SelfCertified no catalog has to have the version.
    """
    if desired.upgrade_constraint_policy is not UpgradeConstraintPolicy.SELF_CERTIFIED:
        return None
    bundles = (r.bundle for r in reversed(history.every) if not r.deleting and r.succeeded)
    of_package = (b for b in bundles if b.package == desired.package_name)
    return next((b for b in of_package if b.version == desired.version), None)


def with_content_of(inputs: str, history: Revisions) -> Revision | None:
    """An existing revision rendered from the same inputs, so that nothing is pulled."""
    existing = (r for r in reversed(history.every) if not r.deleting)
    return next((r for r in existing if r.inputs == inputs), None)
