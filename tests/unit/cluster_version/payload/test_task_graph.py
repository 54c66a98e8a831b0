"""The order in which manifests are applied."""

import asyncio
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster_version.io.task_runner import PERIOD, run, shuffled
from cluster_version.payload.task_graph import (
    File,
    Group,
    State,
    TaskGraph,
    rotated,
    task_graph,
)
from olm_runtime.errors import TerminalError

LISTING = (
    "0000_10_alpha_1.yaml",
    "0000_20_alpha_1.yaml",
    "0000_20_alpha_2.yaml",
    "0000_20_beta_1.yaml",
    "0000_30_gamma_1.yaml",
    "unnamed.yaml",
)


def graph(names: tuple[str, ...], state: State) -> TaskGraph:
    return task_graph([File(name, is_job="job" in name) for name in names], state)


def described(found: TaskGraph) -> list[tuple[list[int], list[int]]]:
    return [(list(group.tasks), list(group.after)) for group in found.groups]


def test_runlevels_follow_each_other_in_an_update() -> None:
    assert described(graph(LISTING, State.UPDATING)) == [
        ([0], []),
        ([1, 2], [0]),
        ([3], [0]),
        ([4, 5], [1, 2]),
    ]


@pytest.mark.parametrize("state", [State.INITIALIZING, State.RECONCILING])
def test_components_wait_for_no_runlevel_otherwise(state: State) -> None:
    found = described(graph(LISTING, state))
    assert found == [([0], []), ([1, 2], []), ([3], []), ([4], []), ([5], [])]


@pytest.mark.parametrize("state", State)
def test_a_job_is_applied_between_all_before_and_all_after_it(state: State) -> None:
    names = ("0000_10_alpha_1.yaml", "0000_10_beta_job.yaml", "0000_10_gamma_1.yaml")
    assert described(graph(names, state)) == [([0], []), ([1], [0]), ([2], [1])]


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("0000_50_olm-operator_01_x.yaml", ("50", "olm-operator")),
        ("0000_3_a_x.yaml", ("3", "a")),
        ("0000_10_openshift_service-ca_00_x.yaml", ("10", "openshift")),
        ("0000_50_olm-06.x_1.yaml", None),
        ("0000_80-machine-config_04_x.yaml", None),
        ("0007_10_x_y.yaml", None),
        ("0000_10_a--b_x.yaml", None),
        ("namespace.yaml", None),
    ],
)
def test_names_say_runlevel_and_component(name: str, place: tuple[str, str] | None) -> None:
    assert File(name).place == place


def test_what_is_parallel_has_workers() -> None:
    names = ("0000_10_a_1.yaml", "0000_10_b_1.yaml", "0000_20_c_job.yaml", "0000_30_d_1.yaml")
    assert graph(names, State.INITIALIZING).workers == 6
    assert graph(names, State.UPDATING).workers == 16
    assert graph(names, State.RECONCILING).workers == 2
    assert graph((), State.INITIALIZING) == TaskGraph((), 1)


@pytest.mark.parametrize(("count", "attempt", "first"), [(3, 1, 1), (3, 7, 1), (100, 3, 37)])
def test_attempts_begin_with_other_groups(count: int, attempt: int, first: int) -> None:
    assert rotated(range(count), attempt, period=8)[0] == first


_FILES = st.lists(
    st.builds(
        "0000_{}_{}_{}.yaml".format,
        st.sampled_from(["10", "20", "30"]),
        st.sampled_from(["a", "b", "c-d", "job"]),
        st.integers(0, 9),
    ).map(lambda name: File(name, is_job="job" in name)),
    max_size=12,
).map(lambda files: sorted(files, key=lambda file: file.name))


@given(st.integers(1, 60), st.integers(0, 5))
def test_within_a_period_each_group_is_early_once(count: int, epoch: int) -> None:
    orders = [shuffled(count, epoch * PERIOD + attempt) for attempt in range(PERIOD)]
    assert all(sorted(order) == [*range(count)] for order in orders)
    early = math.ceil(count / PERIOD)
    assert {group for order in orders for group in order[:early]} == {*range(count)}


@given(_FILES, st.sampled_from(State))
def test_every_manifest_is_in_one_group_and_no_group_waits_for_a_later_one(
    files: list[File], state: State
) -> None:
    found = task_graph(files, state)
    assert [task for group in found.groups for task in group.tasks] == [*range(len(files))]
    for position, group in enumerate(found.groups):
        assert all(before < position for before in group.after)


@given(_FILES, st.sampled_from(State), st.sets(st.integers(0, 11)))
def test_what_waits_for_a_failure_is_left_out(
    files: list[File], state: State, failing: set[int]
) -> None:
    done: list[int] = []

    async def apply(group: Group) -> None:
        for task in group.tasks:
            await asyncio.sleep(0)
            if task in failing:
                raise TerminalError(f"task {task}")
            done.append(task)

    found = task_graph(files, state)
    errors = asyncio.run(run(found, apply))
    assert bool(errors) == any(number < len(files) for number in failing)
    for group in found.groups:
        if done and group.tasks[0] in done:
            before = {task for each in group.after for task in found.groups[each].tasks}
            assert before <= {*done}
            assert all(done.index(task) < done.index(group.tasks[0]) for task in before)
