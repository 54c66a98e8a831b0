"""Whether the service accounts are there that extensions are installed as.

The API server lets us act as an account that was deleted, as long as its bindings stay. So each is
asked for from time to time, and its extensions are looked at when it came or went. Where there are
many, one list of all accounts takes the place of a request for each, as long as it does not consist
of those of others.
"""

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from api.objects import GVK, KubeObject, name_of, namespace_of
from olm_runtime.controller.attempt import attempt
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ForbiddenError, NotFoundError
from olm_runtime.watch.informer import ANY_VERSION

SERVICE_ACCOUNT = GVK("", "v1", "ServiceAccount")
LOOK_SECONDS = 40.0
"""What went is reported within a minute."""
MANY = 32
"""So many accounts are listed."""
OTHERS = 16
"""A list takes as long for so many accounts of others as a request for one of ours."""

Account = tuple[str, str]
"""Namespace and name."""


@dataclass(slots=True)
class Accounts:
    """The accounts in use. `add` has an extension looked at, by name."""

    client: KubeClient
    add: Callable[[str], None]
    _used_by: dict[str, Account] = field(default_factory=dict)
    _missing: set[Account] = field(default_factory=set)
    _listed: float = 0.0
    """How many accounts the last list had; infinite where we may not list them."""

    def use(self, extension: str, account: Account | None) -> None:
        """An extension is installed as this account, or as nobody's any more."""
        if account is None:
            self._used_by.pop(extension, None)
        else:
            self._used_by[extension] = account

    def is_missing(self, account: Account) -> bool:
        """Whether it was not there when it was asked for last."""
        return account in self._missing

    async def look(self) -> NoReturn:
        """Asks for all of them, again and again until cancelled."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            accounts = set(self._used_by.values())
            self._missing &= accounts
            await self.ask_for(accounts)

    async def ask_for(self, accounts: set[Account]) -> None:
        """Asks for these, and has extensions looked at whose account came or went."""
        if len(accounts) >= MANY and self._listed <= OTHERS * len(accounts):
            await attempt(self._list(accounts), "ServiceAccounts")
            if self._listed < math.inf:
                return
        for account in accounts:
            await attempt(self._ask(account), f"ServiceAccount {'/'.join(account)}")

    async def _list(self, accounts: set[Account]) -> None:
        """Raises ApiError, after which nothing is known that was not known before."""
        try:
            found, _ = await self.client.list_all(
                SERVICE_ACCOUNT, metadata_only=True, not_older_than=ANY_VERSION, keep=_named
            )
        except ForbiddenError:
            self._listed = math.inf
            return
        self._listed = len(found)
        missing = accounts - {(namespace_of(obj), name_of(obj)) for obj in found}
        for account in accounts:
            self._note(account, is_missing=account in missing)

    async def _ask(self, account: Account) -> None:
        """Raises ApiError, after which nothing is known that was not known before."""
        namespace, name = account
        try:
            await self.client.get(SERVICE_ACCOUNT, name, namespace, metadata_only=True)
        except NotFoundError:
            self._note(account, is_missing=True)
        else:
            self._note(account, is_missing=False)

    def _note(self, account: Account, *, is_missing: bool) -> None:
        if is_missing == (account in self._missing):
            return
        (self._missing.add if is_missing else self._missing.discard)(account)
        for extension, used in tuple(self._used_by.items()):
            if used == account:
                self.add(extension)


def _named(obj: KubeObject) -> KubeObject:
    return {"metadata": {"namespace": namespace_of(obj), "name": name_of(obj)}}
