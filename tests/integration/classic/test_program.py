"""catalog-operator as a program: its rights, its metrics, its end and its return."""

import pytest

from e2e.harness.controlplane import wait_until
from e2e.olm.classic import Classic, Place

pytestmark = pytest.mark.integration


def test_objects_are_counted_while_they_are_there(classic: Classic, place: Place) -> None:
    place.subscribe("counted", source="none", channel="stable")
    series = (
        'subscription_sync_total{approval="",channel="stable",installed="",name="counted",'
        'package="counted"} '
    )
    wait_until(lambda: f"\n{series}" in classic.metrics(), what=series)
    for name in ("catalog_source_count", "install_plan_count", "subscription_count"):
        assert f"\n{name} " in classic.metrics()
    place.delete("subscriptions", "counted")
    wait_until(lambda: series not in classic.metrics(), what=f"without {series}")


def test_it_works_again_after_it_was_killed(classic: Classic) -> None:
    classic.restart(kill=True)
    assert 'leader_election_master_status{name="catalog-operator.operators.coreos.com"} 1.0' in (
        classic.metrics()
    )
