"""Errors of a round come to the same one in whatever order they happened."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster_version.errors import MULTIPLE, Effect, Plural, UpdateError
from cluster_version.health.summaries import summarize
from olm_runtime.errors import OLMError, TransientError

pytestmark = pytest.mark.property

EFFECTS = {"Updating": Effect.NONE, "Degraded": Effect.FAIL_AFTER_INTERVAL, "Away": Effect.FAIL}


def of_component(name: str, problem: str) -> UpdateError:
    return UpdateError(
        f"component {name} is {problem}",
        reason=problem,
        effect=EFFECTS[problem],
        names=[name],
        plural=Plural(f"Several{problem}", f"components %s are {problem}"),
    )


NAMES, PROBLEMS = st.sampled_from("abcdef"), st.sampled_from(sorted(EFFECTS))
COMPONENTS = st.dictionaries(NAMES, PROBLEMS).map(
    lambda found: [of_component(*each) for each in found.items()]
)
OTHERS = st.lists(NAMES.map(TransientError), max_size=4)


@st.composite
def shuffled(draw: st.DrawFn) -> tuple[list[OLMError], list[OLMError]]:
    """The same errors in two orders."""
    errors: list[OLMError] = [*draw(COMPONENTS), *draw(OTHERS)]
    return errors, draw(st.permutations(errors))


@given(shuffled())
def test_the_order_does_not_count(orders: tuple[list[OLMError], list[OLMError]]) -> None:
    found = [summarize(errors) for errors in orders]
    assert len({error and error.message for error in found}) == 1
    assert (found[0] is None) == (not orders[0])


@given(COMPONENTS, OTHERS)
def test_every_component_and_every_other_error_is_named(
    components: list[UpdateError], others: list[TransientError]
) -> None:
    found = summarize([*components, *others])
    lines = found.message.splitlines() if found else []
    for other in others:
        assert other.message in (line.removeprefix("* ") for line in lines)
    for problem, effect in EFFECTS.items():
        names = sorted(error.name for error in components if error.effect is effect)
        plural = f"components {', '.join(names)} are {problem}"
        message = plural if len(names) > 1 else f"component {''.join(names)} is {problem}"
        assert bool(names) == any(line.removeprefix("* ") == message for line in lines)


@given(st.sets(NAMES, min_size=2), PROBLEMS)
def test_components_with_the_same_problem_are_one_error(names: set[str], problem: str) -> None:
    found = summarize([of_component(name, problem) for name in names])
    assert isinstance(found, UpdateError)
    assert found.reason != MULTIPLE
    assert (found.effect, found.names) == (EFFECTS[problem], tuple(sorted(names)))
