"""How it is found out that service accounts are gone."""

from typing import Any

import pytest

from api.objects import GVK, KubeObject
from olm_runtime.kube.errors import ApiError, ForbiddenError, NotFoundError
from operator_controller.io.accounts import MANY, OTHERS, Account, Accounts


def account(number: int) -> Account:
    return "ns", f"installer-{number}"


class Cluster:
    """Its accounts, and what was asked of it."""

    def __init__(self, count: int, *, others: int = 0) -> None:
        self.accounts = {account(number) for number in range(count)}
        self.others = {("theirs", f"default-{number}") for number in range(others)}
        self.refusal: ApiError | None = None
        self.lists = self.gets = 0

    async def get(self, _: GVK, name: str, namespace: str, **__: Any) -> KubeObject:
        self.gets += 1
        if (namespace, name) not in self.accounts:
            raise NotFoundError("no such account")
        return {}

    async def list_all(self, *_: Any, **__: Any) -> tuple[list[KubeObject], str]:
        self.lists += 1
        if self.refusal is not None:
            raise self.refusal
        found = self.accounts | self.others
        return [{"metadata": {"namespace": ns, "name": name}} for ns, name in found], "1"


def used(cluster: Cluster, count: int) -> tuple[Accounts, set[Account], list[str]]:
    """So many accounts of an extension each, and which extensions are looked at."""
    looked_at: list[str] = []
    accounts = Accounts(cluster, looked_at.append)  # type: ignore[arg-type]
    for number in range(count):
        accounts.use(f"extension-{number}", account(number))
    return accounts, {account(number) for number in range(count)}, looked_at


@pytest.mark.parametrize("count", [2, MANY])
async def test_extensions_are_looked_at_when_their_account_goes_and_when_it_is_back(
    count: int,
) -> None:
    cluster = Cluster(count)
    accounts, all_of_them, looked_at = used(cluster, count)
    await accounts.ask_for(all_of_them)
    assert looked_at == []
    cluster.accounts.discard(account(1))
    for _ in range(2):
        await accounts.ask_for(all_of_them)
        assert looked_at == ["extension-1"]
        assert accounts.is_missing(account(1))
    cluster.accounts.add(account(1))
    await accounts.ask_for(all_of_them)
    assert looked_at == ["extension-1"] * 2
    assert not accounts.is_missing(account(1))


async def test_many_accounts_are_one_request() -> None:
    cluster = Cluster(MANY)
    accounts, all_of_them, _ = used(cluster, MANY)
    await accounts.ask_for(all_of_them)
    assert (cluster.lists, cluster.gets) == (1, 0)


async def test_accounts_among_very_many_of_others_are_asked_for_one_by_one() -> None:
    cluster = Cluster(MANY, others=OTHERS * MANY)
    accounts, all_of_them, _ = used(cluster, MANY)
    for _ in range(3):
        await accounts.ask_for(all_of_them)
    assert (cluster.lists, cluster.gets) == (1, 2 * MANY)


async def test_who_may_not_list_accounts_asks_for_each() -> None:
    cluster = Cluster(MANY)
    accounts, all_of_them, looked_at = used(cluster, MANY)
    cluster.refusal = ForbiddenError("may not list")
    cluster.accounts.clear()
    await accounts.ask_for(all_of_them)
    assert (cluster.lists, cluster.gets) == (1, MANY)
    assert len(looked_at) == MANY
    await accounts.ask_for(all_of_them)
    assert (cluster.lists, cluster.gets) == (1, 2 * MANY)


async def test_a_server_that_is_away_says_nothing_of_accounts() -> None:
    cluster = Cluster(MANY)
    accounts, all_of_them, looked_at = used(cluster, MANY)
    cluster.refusal = ApiError("away")
    await accounts.ask_for(all_of_them)
    assert (looked_at, cluster.lists, cluster.gets) == ([], 1, 0)
