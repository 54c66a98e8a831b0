"""Whether the service accounts are there that extensions are installed as.

The API server lets us act as an account that was deleted, as long as its bindings stay. So each is
asked for from time to time, and its extensions are looked at when it came or went.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from api.objects import GVK
from olm_runtime.controller.attempt import attempt
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import NotFoundError

SERVICE_ACCOUNT = GVK("", "v1", "ServiceAccount")
LOOK_SECONDS = 40.0
"""What went is told within a minute, at one small request for each account."""

Account = tuple[str, str]
"""Namespace and name."""


@dataclass(slots=True)
class Accounts:
    """The accounts in use. `add` has an extension looked at, by name."""

    client: KubeClient
    add: Callable[[str], None]
    _used_by: dict[str, Account] = field(default_factory=dict)
    _missing: set[Account] = field(default_factory=set)

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
            for account in accounts:
                await attempt(self._ask(account), f"ServiceAccount {'/'.join(account)}")

    async def _ask(self, account: Account) -> None:
        """Raises ApiError, after which nothing is known that was not known before."""
        namespace, name = account
        was_missing = account in self._missing
        try:
            await self.client.get(SERVICE_ACCOUNT, name, namespace, metadata_only=True)
        except NotFoundError:
            self._missing.add(account)
        else:
            self._missing.discard(account)
        if was_missing != (account in self._missing):
            for extension, used in tuple(self._used_by.items()):
                if used == account:
                    self.add(extension)
