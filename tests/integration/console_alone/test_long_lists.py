"""A list costs as much with many objects as with few."""

import asyncio
from collections.abc import Iterable

import httpx
import pytest

from console.paging import PAGE_LENGTH
from console.users import LIST_PAGE, User
from e2e.harness.controlplane import ControlPlane
from olm_client.reach import ClusterOptions, Reach
from tests.integration.console.inside import console_for

KIND = "/apis/olm.operatorframework.io/v1/clusterextensions"
FEW, MANY = PAGE_LENGTH + 1, 2 * LIST_PAGE + 1

pytestmark = pytest.mark.integration


def _names(numbers: Iterable[int]) -> list[str]:
    return [f"long-list-{at:03}" for at in numbers]


def _create(control_plane: ControlPlane, names: Iterable[str]) -> None:
    with control_plane.client() as api:
        for name in names:
            spec = {
                "namespace": "default",
                "serviceAccount": {"name": "installer"},
                "source": {"sourceType": "Catalog", "catalog": {"packageName": "none"}},
            }
            made = {
                "apiVersion": "olm.operatorframework.io/v1",
                "kind": "ClusterExtension",
                "metadata": {"name": name},
                "spec": spec,
            }
            api.post(KIND, json=made).raise_for_status()


def _remove(control_plane: ControlPlane, names: Iterable[str]) -> None:
    with control_plane.client() as api:
        for name in names:
            api.delete(f"{KIND}/{name}").raise_for_status()


async def _cost(user: User, browser: httpx.AsyncClient, path: str) -> tuple[int, int]:
    """Requests to the API server for a page, and its rows."""
    before = sum(user.kube.answers.values())
    answer = await browser.get(path)
    assert answer.status_code == 200
    return sum(user.kube.answers.values()) - before, answer.text.count('scope="row"')


async def _shown(user: User, browser: httpx.AsyncClient, path: str, text: str) -> None:
    notified = asyncio.Event()
    user.changes.subscribe(notified.set)
    while text not in (await browser.get(path)).text:
        await notified.wait()
        notified.clear()
    user.changes.unsubscribe(notified.set)


async def test_a_page_of_many_is_as_long_and_asks_as_often(control_plane: ControlPlane) -> None:
    user = User.connect("me", ClusterOptions(Reach(str(control_plane.kubeconfig))))
    user.now = lambda: 0.0  # answers about rights do not get old
    names = _names(range(MANY))
    try:
        await asyncio.to_thread(_create, control_plane, names[: FEW - 1])
        async with console_for(user) as browser:
            path = "/extensions?words=long-list"
            assert (await _cost(user, browser, path))[1] == PAGE_LENGTH
            await asyncio.to_thread(_create, control_plane, names[FEW - 1 : FEW])
            await _shown(user, browser, path, f"{FEW} in all")  # thus it is watched
            few = await _cost(user, browser, path)
            assert few == (0, PAGE_LENGTH), "they are in memory"
            await asyncio.to_thread(_create, control_plane, names[FEW:])
            await _shown(user, browser, path, f"{MANY} in all")
            assert await _cost(user, browser, path) == few
            assert await _cost(user, browser, f"{path}&page=3") == few
            last = await _cost(user, browser, f"{path}&page=1000")
            assert last == (0, MANY % PAGE_LENGTH)
    finally:
        await user.close()
        await asyncio.to_thread(_remove, control_plane, names)
