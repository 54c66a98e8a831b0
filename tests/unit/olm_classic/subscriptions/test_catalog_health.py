"""status.catalogHealth and CatalogSourcesUnhealthy of Subscriptions."""

from dataclasses import replace

import pytest
from msgspec import structs

from api.operators.v1alpha1.catalogsource import CatalogSource
from olm_classic.subscriptions.catalog_health import is_healthy, with_catalog_health
from olm_classic.subscriptions.conditions import condition_of
from tests.unit.olm_classic.subscriptions.samples import NOW, catalog, subscription, view

KIND = "CatalogSourcesUnhealthy"
WELL = "all available catalogsources are healthy"


@pytest.mark.parametrize(
    ("source", "healthy"),
    [
        (catalog(), True),
        (catalog(reason="InvalidIntervalError"), True),
        (catalog(served=False), False),
        (catalog(reason="SpecInvalidError"), False),
        (catalog(reason="ConfigMapError"), False),
        (catalog(reason="RegistryServerError"), False),
    ],
)
def test_a_catalog_is_healthy_while_what_serves_it_is_made(
    source: CatalogSource, healthy: bool
) -> None:
    assert is_healthy(source) is healthy


@pytest.mark.parametrize(
    ("catalogs", "status", "reason", "message"),
    [
        ((catalog(),), "False", "AllCatalogSourcesHealthy", WELL),
        (
            (),
            "True",
            "NoCatalogSourcesFound",
            "dependency resolution requires at least one catalogsource",
        ),
        (
            (catalog("other"),),
            "True",
            "UnhealthyCatalogSourceFound",
            "targeted catalogsource olm/catalog missing",
        ),
        (
            (catalog("other"), catalog(reason="SpecInvalidError")),
            "True",
            "UnhealthyCatalogSourceFound",
            "targeted catalogsource olm/catalog unhealthy",
        ),
        (
            (catalog("other", reason="SpecInvalidError"), catalog()),
            "True",
            "UnhealthyCatalogSourceFound",
            "catalogsource olm/other unhealthy",
        ),
    ],
)
def test_the_condition_says_which_catalog_is_unwell(
    catalogs: tuple[CatalogSource, ...], status: str, reason: str, message: str
) -> None:
    sub = subscription()
    seen = view(sub, catalogs=catalogs)
    after = with_catalog_health(with_catalog_health(sub.status, sub, seen), sub, seen)
    found = condition_of(after, KIND)
    assert found is not None
    assert (found.status, found.reason, found.message) == (status, reason, message)
    assert found.last_transition_time == NOW


@pytest.mark.parametrize(
    ("before", "now", "reason"),
    [
        ((), (catalog(),), "CatalogSourcesAdded"),
        ((catalog(), catalog("b")), (catalog(),), "CatalogSourcesDeleted"),
        ((catalog(served=False),), (catalog(),), "CatalogSourcesUpdated"),
        ((catalog("b"), catalog()), (catalog(), catalog("b")), "AllCatalogSourcesHealthy"),
    ],
)
def test_a_change_of_the_list_is_reported_once(
    before: tuple[CatalogSource, ...], now: tuple[CatalogSource, ...], reason: str
) -> None:
    sub = subscription()
    first = with_catalog_health(sub.status, sub, view(sub, catalogs=before))
    second = with_catalog_health(first, sub, view(sub, catalogs=now))
    found = condition_of(second, KIND)
    assert found is not None
    assert (found.status, found.reason) == ("False", reason)
    third = condition_of(with_catalog_health(second, sub, view(sub, catalogs=now)), KIND)
    assert third is not None
    assert third.reason == "AllCatalogSourcesHealthy"


def test_the_list_is_sorted_and_keeps_what_did_not_change() -> None:
    sub = subscription()
    seen = view(sub, catalogs=(catalog("b"), catalog("a"), catalog("z", "apps")))
    health = with_catalog_health(sub.status, sub, seen).catalog_health
    assert [each.catalog_source_ref.name for each in health] == ["z", "a", "b"]
    later = replace(seen, now=NOW.replace(year=2027))
    status = structs.replace(sub.status, catalog_health=health)
    assert with_catalog_health(status, sub, later).catalog_health == health
