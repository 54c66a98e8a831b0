"""Every write of an install, an update, a rollback and a deletion meets every fault.

`make faults` runs the whole matrix (marker `faults`), or the writes from OLMV1_FAULT_FIRST to
OLMV1_FAULT_LAST of each phase, to look at one of them again. The integration tests run a sample,
whose seed is printed and may be given as OLMV1_FAULT_SEED.
"""

import pytest

from e2e.harness.faults import Fault
from tests.integration.faults.life import Phase, World
from tests.integration.faults.matrix import (
    Measure,
    every_write,
    need_a_machine,
    report,
    run,
    sample,
)

SAMPLED_LIVES = 4
SAMPLED_KILLS = 1


@pytest.mark.faults
@pytest.mark.parametrize("fault", list(Fault))
def test_every_write_may_fail(fault: Fault, world: World, undisturbed: Measure) -> None:
    every_write(world, undisturbed, fault)


@pytest.mark.integration
def test_a_sample_of_faults_of_the_machine(world: World, undisturbed: Measure) -> None:
    need_a_machine()
    faults = [Fault.DISK_FULL, Fault.CLOCK_BACK, Fault.CLOCK_FORTH, Fault.DISK_READ_ONLY]
    [key] = world.publish(1)
    life = {phase: (fault, 2) for phase, fault in zip(Phase, faults, strict=True)}
    results = run(world, {key: life}, undisturbed)
    report(results)
    assert all(result.met for result in results)


@pytest.mark.integration
def test_a_sample_of_faults(world: World, undisturbed: Measure) -> None:
    sample(world, undisturbed, lives=SAMPLED_LIVES, kills=SAMPLED_KILLS)
