"""What pools say: targets, limits, and whose a node is."""

from typing import Any

import pytest

from api.objects import KubeObject, name_of
from cluster_version.nodes.pools import PoolError, max_unavailable, members, target_of

WORKER = {"node-role.kubernetes.io/worker": ""}
CONTROL_PLANE = {"node-role.kubernetes.io/control-plane": ""}
INFRA = {"node-role.kubernetes.io/infra": ""}
GPU = {"gpu": "yes"}


def pool(name: str, labels: dict[str, str] | None = None, **spec: Any) -> KubeObject:
    selector = {} if labels is None else {"nodeSelector": {"matchLabels": labels}}
    return {"metadata": {"name": name}, "spec": spec | selector}


def nodes(*labels: dict[str, str]) -> list[KubeObject]:
    return [{"metadata": {"name": f"node-{n}", "labels": each}} for n, each in enumerate(labels)]


@pytest.mark.parametrize(
    ("said", "count", "limit"),
    [
        (None, 5, 1),
        (0, 5, 1),
        (3, 5, 3),
        (9, 5, 9),
        ("50%", 5, 2),
        ("19%", 5, 1),
        ("100%", 5, 5),
        ("0%", 5, 1),
        (2, 0, 2),
    ],
)
def test_how_many_may_be_unavailable(said: int | str | None, count: int, limit: int) -> None:
    worker = pool("worker", maxUnavailable=said)
    assert max_unavailable(worker, nodes(*[WORKER] * count)) == limit


@pytest.mark.parametrize(("count", "limit"), [(1, 1), (2, 1), (3, 1), (5, 2), (7, 3)])
def test_a_majority_of_the_control_plane_stays(count: int, limit: int) -> None:
    master = pool("master", maxUnavailable=3)
    assert max_unavailable(master, nodes(*[CONTROL_PLANE] * count)) == limit


@pytest.mark.parametrize("said", ["", "3", "a", "-1%", "1.5%"])
def test_a_limit_that_is_none(said: str) -> None:
    with pytest.raises(PoolError, match="neither a number nor a percentage") as error:
        max_unavailable(pool("worker", maxUnavailable=said), [])
    assert error.value.reason == "InvalidMaxUnavailable"


def test_a_target_without_a_name_is_named_by_what_it_is() -> None:
    first = name_of_target({"image": "a", "command": ["b", "c"]})
    assert first.startswith("rendered-worker-")
    assert len(first) == len("rendered-worker-1d871ac76e1951d32b2fe92369879826")
    others: list[dict[str, Any]] = [
        {"image": "b", "command": ["b", "c"]},
        {"image": "a", "command": ["bc"]},
        {"image": "a"},
    ]
    names = {name_of_target(each) for each in others}
    assert len(names | {first}) == 4
    assert name_of_target({"image": "a", "name": "mine"}) == "mine"


def name_of_target(configuration: dict[str, Any]) -> str:
    target = target_of(pool("worker", configuration=configuration))
    assert target
    return target.name


@pytest.mark.parametrize("configuration", [None, {}, {"name": "rendered-worker-1"}])
def test_a_pool_without_an_image_is_somebody_elses(configuration: Any) -> None:
    assert target_of(pool("worker", configuration=configuration)) is None
    assert target_of(pool("worker")) is None


def test_whose_a_node_is() -> None:
    """Of several that select it: master first, worker last."""
    pools = [pool("master", CONTROL_PLANE), pool("worker", WORKER), pool("infra", INFRA)]
    all_nodes = nodes(CONTROL_PLANE | WORKER | INFRA, WORKER, WORKER | INFRA, INFRA, {})
    found = {name_of(each): [name_of(n) for n in members(each, pools, all_nodes)] for each in pools}
    assert found == {
        "master": ["node-0"],
        "worker": ["node-1"],
        "infra": ["node-2", "node-3"],
    }


def test_a_node_of_two_pools_is_reported_by_both_and_leaves_worker_alone() -> None:
    pools = [pool("worker", WORKER), pool("infra", INFRA), pool("gpu", GPU)]
    both = nodes(WORKER | INFRA | GPU, WORKER)
    for each in pools[1:]:
        with pytest.raises(PoolError, match="node-0 is selected by the pools gpu, infra"):
            members(each, pools, both)
    assert [name_of(each) for each in members(pools[0], pools, both)] == ["node-1"]


def test_a_selector_that_means_nothing_is_its_own_pools_fault() -> None:
    selector = {"matchExpressions": [{"key": "a", "operator": "Near", "values": ["b"]}]}
    broken = pool("infra", nodeSelector=selector)
    pools = [pool("worker", WORKER), broken]
    for some in (nodes(WORKER), []):
        with pytest.raises(PoolError, match="Near"):
            members(broken, pools, some)
    assert len(members(pools[0], pools, nodes(WORKER))) == 1


@pytest.mark.parametrize("said", [{}, {"nodeSelector": {}}, {"nodeSelector": None}])
def test_without_a_selector_there_are_no_nodes(said: dict[str, Any]) -> None:
    one = pool("infra", **said)
    assert members(one, [one], nodes(WORKER)) == []
