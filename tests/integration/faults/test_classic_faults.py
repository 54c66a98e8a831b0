"""The same for what catalog-operator writes of Subscriptions, and olm-operator of versions."""

import pytest

from e2e.harness.faults import MACHINE, Fault
from tests.integration.faults.life import World
from tests.integration.faults.matrix import Measure, every_write, sample

SAMPLED_LIVES = 3
SAMPLED_KILLS = 1


@pytest.mark.faults
@pytest.mark.parametrize("fault", sorted(set(Fault) - MACHINE))
def test_every_write_of_a_plan_may_fail(
    fault: Fault, classic_world: World, classic_undisturbed: Measure
) -> None:
    every_write(classic_world, classic_undisturbed, fault)


@pytest.mark.integration
def test_a_sample_of_faults_of_plans(classic_world: World, classic_undisturbed: Measure) -> None:
    sample(classic_world, classic_undisturbed, lives=SAMPLED_LIVES, kills=SAMPLED_KILLS)


@pytest.mark.faults
@pytest.mark.parametrize("fault", sorted(set(Fault) - MACHINE))
def test_every_write_of_a_version_may_fail(
    fault: Fault, operator_world: World, operator_undisturbed: Measure
) -> None:
    every_write(operator_world, operator_undisturbed, fault)


@pytest.mark.integration
def test_a_sample_of_faults_of_versions(
    operator_world: World, operator_undisturbed: Measure
) -> None:
    sample(operator_world, operator_undisturbed, lives=SAMPLED_LIVES, kills=SAMPLED_KILLS)
