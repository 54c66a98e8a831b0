"""catalog-operator as a program: its rights, its metrics, its end and its return."""

import pytest

from e2e.olm.classic import Classic, Place

pytestmark = pytest.mark.integration


def test_objects_are_counted(classic: Classic, place: Place) -> None:
    text = classic.metrics()
    for name in ("catalog_source_count", "install_plan_count", "subscription_count"):
        assert f"\n{name} " in text


def test_it_works_again_after_it_was_killed(classic: Classic) -> None:
    classic.restart(kill=True)
    assert 'leader_election_master_status{name="catalog-operator.operators.coreos.com"} 1.0' in (
        classic.metrics()
    )
