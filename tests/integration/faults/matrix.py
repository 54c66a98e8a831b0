"""Which write of which life meets which fault, and what came of it."""

import os
import random
from collections.abc import Mapping, Sequence

from e2e.harness.faults import KILLS, MACHINE, Fault
from e2e.harness.machine import what_is_missing
from tests.integration.faults.life import Phase, Result, Undisturbed, World, one_at_a_time
from tests.requirements import leave_out

MACHINE_STEP = 4
"""A disk or a clock that is wrong lasts: the write at which that begins matters less."""
SLOW = frozenset({Fault.SILENT_AFTER, Fault.SILENT_BEFORE})

Lives = dict[str, dict[Phase, tuple[Fault, int]]]
"""What each life meets in each phase: a fault, at the write of a number."""
Measure = dict[Phase, Undisturbed]


def need_a_machine() -> None:
    """Skips, or fails where OLMV1_REQUIRE names it."""
    if reason := what_is_missing():
        leave_out("machine", reason)


def run(world: World, lives: Lives, undisturbed: Measure) -> list[Result]:
    """Lets them live; what came of each phase.

    Those whose fault concerns the whole program live through a phase alone, others side by side.
    All are judged together: that takes a while of silence, and a list of each kind there is.
    """
    results: list[Result] = []
    for phase in world.phases:
        cases = {key: life[phase] for key, life in lives.items() if phase in life}
        alone = {key: case for key, case in cases.items() if one_at_a_time(case[0])}
        world.live(phase, {key: case for key, case in cases.items() if key not in alone})
        for key, case in alone.items():
            world.live(phase, {key: case})
        untouched = {key: None for key in lives if key not in cases}
        world.live(phase, untouched)
        results += world.judge(phase, cases, undisturbed[phase])
    return results


def report(results: list[Result]) -> None:
    """Prints how many cases there were, and at once what went wrong in which; fails then."""
    met = sum(bool(result.met) for result in results)
    wrong = [str(result) for result in results if result.problems]
    lines = [f"{met} faults met by {len(results)} phases of lives", *wrong]
    print("\n" + "\n".join(lines), flush=True)  # noqa: T201
    assert not wrong, f"{len(wrong)} of {len(results)} cases went wrong"


def selected(undisturbed: Measure) -> range:
    """The numbers of the writes that are to fail."""
    most = max(found.fewest for found in undisturbed.values())
    first, last = (os.environ.get(f"OLMV1_FAULT_{end}") for end in ("FIRST", "LAST"))
    return range(int(first or 1), min(int(last or most), most) + 1)


def whole(keys: list[str], fault: Fault, numbers: range, undisturbed: Measure) -> Lives:
    """One life for each number; it meets the fault at that write of each phase that has it."""
    return {
        key: {p: (fault, n) for p, found in undisturbed.items() if n <= found.fewest}
        for key, n in zip(keys, numbers, strict=True)
    }


def every_write(world: World, undisturbed: Measure, fault: Fault) -> None:
    """Each selected write of each phase meets the fault."""
    numbers = selected(undisturbed)
    if fault in MACHINE:
        need_a_machine()
        numbers = numbers[::MACHINE_STEP]
    lives = whole(world.publish(len(numbers)), fault, numbers, undisturbed)
    results = run(world, lives, undisturbed)
    report(results)
    assert sum(bool(result.met) for result in results) > 0.9 * len(results)


def seeded() -> random.Random:
    """Chance by a seed that is printed, or given as OLMV1_FAULT_SEED."""
    seed = int(os.environ.get("OLMV1_FAULT_SEED") or random.SystemRandom().randrange(10**6))
    print(f"\nOLMV1_FAULT_SEED={seed}")  # noqa: T201
    return random.Random(seed)


def sample(world: World, undisturbed: Measure, *, lives: int, kills: int) -> None:
    """So many lives with a quick fault in each phase, and so many that are killed in each."""
    chance = seeded()
    quick = [fault for fault in Fault if not one_at_a_time(fault) and fault not in SLOW]

    def life(faults: Sequence[Fault]) -> Mapping[Phase, tuple[Fault, int]]:
        return {
            phase: (chance.choice(faults), chance.randint(1, found.fewest))
            for phase, found in undisturbed.items()
        }

    keys = world.publish(lives + kills)
    faults = [sorted(KILLS)] * kills + [quick] * lives
    sampled: Lives = {key: dict(life(each)) for key, each in zip(keys, faults, strict=True)}
    report(run(world, sampled, undisturbed))
