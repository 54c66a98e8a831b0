"""The conditions of a Subscription: their types and reasons, and how one is set."""

from datetime import datetime

from msgspec.structs import replace

from api.operators.v1alpha1.subscription import SubscriptionCondition, SubscriptionStatus

CATALOG_SOURCES_UNHEALTHY = "CatalogSourcesUnhealthy"
INSTALL_PLAN_MISSING = "InstallPlanMissing"
INSTALL_PLAN_PENDING = "InstallPlanPending"
INSTALL_PLAN_FAILED = "InstallPlanFailed"
RESOLUTION_FAILED = "ResolutionFailed"
BUNDLE_UNPACKING = "BundleUnpacking"
BUNDLE_UNPACK_FAILED = "BundleUnpackFailed"
PACKAGE_DEPRECATED = "PackageDeprecated"
CHANNEL_DEPRECATED = "ChannelDeprecated"
BUNDLE_DEPRECATED = "BundleDeprecated"
DEPRECATED = "Deprecated"

CONSTRAINTS_NOT_SATISFIABLE = "ConstraintsNotSatisfiable"
ERROR_PREVENTED_RESOLUTION = "ErrorPreventedResolution"
UNPACKING_IN_PROGRESS = "UnpackingInProgress"
ERROR_PREVENTED_UNPACKING = "ErrorPreventedUnpacking"
ENSURE_INSTALL_PLAN_FAILED = "EnsureInstallPlanFailed"

TRUE, FALSE = "True", "False"


def condition_of(status: SubscriptionStatus, kind: str) -> SubscriptionCondition | None:
    """The condition of a type, if it is there."""
    return next((each for each in status.conditions if each.type == kind), None)


def with_condition(
    status: SubscriptionStatus,
    condition: SubscriptionCondition,
    now: datetime | None = None,
) -> SubscriptionStatus:
    """The status with a condition in the place of the one of its type.

    Its lastTransitionTime is `now` where anything else about it changed; without `now` it has none,
    as upstream's conditions about resolution.
    """
    before = condition_of(status, condition.type)
    if before is not None and replace(before, last_transition_time=None) == condition:
        condition = before
    else:
        condition = replace(condition, last_transition_time=now)
    if before is None:
        return replace(status, conditions=(*status.conditions, condition))
    found = tuple(condition if each is before else each for each in status.conditions)
    return replace(status, conditions=found)


def without_conditions(status: SubscriptionStatus, *kinds: str) -> SubscriptionStatus:
    """The status without the conditions of these types."""
    rest = tuple(each for each in status.conditions if each.type not in kinds)
    return status if len(rest) == len(status.conditions) else replace(status, conditions=rest)


def with_resolution_failed(
    status: SubscriptionStatus, reason: str, message: str
) -> SubscriptionStatus:
    """The namespace cannot be resolved."""
    status = without_conditions(status, BUNDLE_UNPACKING, BUNDLE_UNPACK_FAILED)
    return with_condition(status, _true(RESOLUTION_FAILED, reason, message))


def with_unpacking(status: SubscriptionStatus, message: str) -> SubscriptionStatus:
    """It is resolved, and bundles are being unpacked."""
    status = without_conditions(status, RESOLUTION_FAILED, BUNDLE_UNPACK_FAILED)
    return with_condition(status, _true(BUNDLE_UNPACKING, UNPACKING_IN_PROGRESS, message))


def with_unpack_failed(status: SubscriptionStatus, reason: str, message: str) -> SubscriptionStatus:
    """It is resolved, but a bundle cannot be unpacked, or no plan be made of it."""
    status = without_conditions(status, RESOLUTION_FAILED, BUNDLE_UNPACKING)
    return with_condition(status, _true(BUNDLE_UNPACK_FAILED, reason, message))


def without_resolution(status: SubscriptionStatus) -> SubscriptionStatus:
    """It is resolved, and what it takes is unpacked."""
    return without_conditions(status, RESOLUTION_FAILED, BUNDLE_UNPACKING, BUNDLE_UNPACK_FAILED)


def _true(kind: str, reason: str, message: str) -> SubscriptionCondition:
    return SubscriptionCondition(type=kind, status=TRUE, reason=reason, message=message)
