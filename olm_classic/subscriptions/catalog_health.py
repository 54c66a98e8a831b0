"""How the catalogs that take part in resolution are, as each Subscription says it."""

from datetime import datetime

from msgspec.structs import replace

from api.operators import names
from api.operators.common import ObjectReference
from api.operators.v1alpha1.catalogsource import CatalogSource
from api.operators.v1alpha1.subscription import (
    CatalogHealth,
    Subscription,
    SubscriptionCondition,
    SubscriptionStatus,
)
from olm_classic.subscriptions.conditions import (
    CATALOG_SOURCES_UNHEALTHY,
    FALSE,
    TRUE,
    with_condition,
)
from olm_classic.subscriptions.view import View

ALL_HEALTHY = "AllCatalogSourcesHealthy"
UNHEALTHY_FOUND = "UnhealthyCatalogSourceFound"
NONE_FOUND = "NoCatalogSourcesFound"
ADDED, UPDATED, DELETED = "CatalogSourcesAdded", "CatalogSourcesUpdated", "CatalogSourcesDeleted"

UNHEALTHY_REASONS = frozenset({"SpecInvalidError", "ConfigMapError", "RegistryServerError"})
"""Of CatalogSources: what keeps their pods, Services and the rest from being there."""


def is_healthy(catalog: CatalogSource) -> bool:
    """Whether its spec is valid and what serves it was made; not whether that answers."""
    return catalog.status.reason not in UNHEALTHY_REASONS and (
        catalog.status.registry_service is not None
    )


def with_catalog_health(
    status: SubscriptionStatus, subscription: Subscription, view: View
) -> SubscriptionStatus:
    """The status with catalogHealth and CatalogSourcesUnhealthy.

    Where the list changed the reason says so; the next look has the reason that stays.
    """
    before = status.catalog_health
    now = tuple(_health(each, before, view.now) for each in sorted(view.catalogs, key=_place))
    condition = _condition(subscription, now)
    if change := _change(before, now):
        condition = replace(condition, reason=change)
    return with_condition(replace(status, catalog_health=now), condition, view.now)


def _place(catalog: CatalogSource) -> str:
    return catalog.metadata.namespace + catalog.metadata.name


def _health(
    catalog: CatalogSource, before: tuple[CatalogHealth, ...], now: datetime
) -> CatalogHealth:
    meta, healthy = catalog.metadata, is_healthy(catalog)
    for known in before:
        if known.catalog_source_ref.uid == meta.uid and known.healthy == healthy:
            return known
    reference = ObjectReference(
        api_version=names.V1ALPHA1,
        kind="CatalogSource",
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        resource_version=meta.resource_version,
    )
    return CatalogHealth(catalog_source_ref=reference, healthy=healthy, last_updated=now)


def _change(before: tuple[CatalogHealth, ...], now: tuple[CatalogHealth, ...]) -> str:
    if len(now) != len(before):
        return ADDED if len(now) > len(before) else DELETED
    return UPDATED if set(_facts(before)) != set(_facts(now)) else ""


def _facts(health: tuple[CatalogHealth, ...]) -> list[tuple[str, bool]]:
    return [(each.catalog_source_ref.uid, each.healthy) for each in health]


def _condition(
    subscription: Subscription, health: tuple[CatalogHealth, ...]
) -> SubscriptionCondition:
    if not health:
        return _unhealthy(NONE_FOUND, "dependency resolution requires at least one catalogsource")
    spec = subscription.spec
    targeted = f"{spec.source_namespace}/{spec.source}"
    unhealthy = {_named(each): each.healthy for each in health}
    if targeted not in unhealthy:
        return _unhealthy(UNHEALTHY_FOUND, f"targeted catalogsource {targeted} missing")
    if not unhealthy[targeted]:
        return _unhealthy(UNHEALTHY_FOUND, f"targeted catalogsource {targeted} unhealthy")
    if others := [
        f"catalogsource {name} unhealthy" for name, well in unhealthy.items() if not well
    ]:
        return _unhealthy(UNHEALTHY_FOUND, ", ".join(others))
    return SubscriptionCondition(
        type=CATALOG_SOURCES_UNHEALTHY,
        status=FALSE,
        reason=ALL_HEALTHY,
        message="all available catalogsources are healthy",
    )


def _named(health: CatalogHealth) -> str:
    return f"{health.catalog_source_ref.namespace}/{health.catalog_source_ref.name}"


def _unhealthy(reason: str, message: str) -> SubscriptionCondition:
    return SubscriptionCondition(
        type=CATALOG_SOURCES_UNHEALTHY, status=TRUE, reason=reason, message=message
    )
