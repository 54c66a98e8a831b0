"""Installs what a ClusterServiceVersion describes, and knows what was tried already."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from api.objects import KubeObject, metadata, name_of, namespace_of
from olm_classic.controllers.csv_facts import Observer
from olm_classic.controllers.csv_stores import CsvStores
from olm_classic.csv.machine import Applied
from olm_classic.install_plans.phases import account_missing, account_of
from olm_classic.io.account_rights import Fingerprint, versions_of
from olm_classic.io.owned_apis import OwnedApis
from olm_classic.io.step_errors import StepError
from olm_content.rights.authority import Account
from olm_runtime.controller.manager import NAMESPACE
from olm_runtime.kube.errors import ApiError, ForbiddenError, InvalidError, NotFoundError


@dataclass(frozen=True, slots=True)
class Installed:
    """How an attempt ended, and fields of the status that it gives."""

    applied: Applied = field(default_factory=Applied)
    status: Mapping[str, Any] = field(default_factory=dict)


class Installer:
    """Makes attempts. What it knows of them is only to be sooner than by the clock."""

    def __init__(self, stores: CsvStores, observer: Observer, owned: OwnedApis) -> None:
        self._stores = stores
        self._observer = observer
        self._owned = owned
        self._tried: dict[str, tuple[str, ...]] = {}
        """By UID the last attempt."""
        self._rights: dict[str, Fingerprint] = {}
        """By UID the rights with which the last attempt was made."""

    async def install(self, csv: KubeObject, group: KubeObject) -> Installed:
        """Applies its Deployments, and ends those that it has no more. Raises ApiError."""
        uid = str(metadata(csv)["uid"])
        self._rights[uid] = self._fingerprint(csv, [group])
        wanted = self._observer.wanted(csv)
        self._tried[uid] = self._observer.attempt_of(csv, wanted)
        if occupied := self._stores.occupied(csv, wanted):
            return Installed(Applied(occupied))
        account = account_of(group)
        if account and self._stores.accounts.get(account, namespace_of(group)) is None:
            return Installed(Applied(account_missing(group), is_final=True))
        try:
            prepared = await self._owned.prepare(csv, group, wanted)
            await self._stores.deployments.apply(prepared.deployments, account)
            await self._stores.deployments.retire(csv, map(name_of, wanted))
        except ForbiddenError as error:
            return Installed(Applied(f"install strategy failed: {error.message}", is_final=True))
        except (StepError, InvalidError) as error:
            return Installed(Applied(error.message))
        except ApiError as error:
            if not _is_definite(error):
                raise
            return Installed(Applied(error.message))
        return Installed(status=prepared.status)

    def was_tried(self, csv: KubeObject, attempt: tuple[str, ...]) -> bool:
        """Whether the last attempt was the same, as far as that is known."""
        return self._tried.get(str(metadata(csv)["uid"]), attempt) == attempt

    def rights_changed(self, csv: KubeObject, groups: Sequence[KubeObject]) -> bool:
        """Whether another attempt may end otherwise; also where none was seen."""
        known = self._rights.get(str(metadata(csv)["uid"]))
        return known != self._fingerprint(csv, groups)

    def forget(self, csv: KubeObject) -> None:
        """It is being deleted."""
        uid = str(metadata(csv)["uid"])
        self._tried.pop(uid, None)
        self._rights.pop(uid, None)

    def _fingerprint(self, csv: KubeObject, groups: Sequence[KubeObject]) -> Fingerprint:
        """Of the rights in its namespace, and of whom its group asks to use them."""
        namespace, rights = namespace_of(csv), self._stores.rights
        accounts = sorted(account_of(group) for group in groups)
        held = [rights.fingerprint(Account(namespace, each)) for each in accounts if each]
        there = [
            versions_of(store.by_index(NAMESPACE, namespace))
            for store in (rights.roles, rights.bindings, self._stores.accounts)
        ]
        return (*accounts, *held, *there)


def _is_definite(error: ApiError) -> bool:
    """Whether it is an answer about the objects themselves, as that of a webhook is."""
    return isinstance(error, NotFoundError) or "webhook" in error.message
