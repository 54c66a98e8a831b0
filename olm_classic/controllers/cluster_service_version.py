"""The controller of ClusterServiceVersions: brings each from phase to phase.

A step is one look at what is known, and at most one write. The next step follows at once: the
answer to a write is as good as its event.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Protocol

from api.objects import (
    KubeObject,
    finalizers_of,
    gvk_of,
    is_deleting,
    labels_of,
    metadata,
    name_of,
    namespace_of,
)
from olm_classic.controllers.csv_facts import Findings, Observer
from olm_classic.controllers.csv_installing import Installer
from olm_classic.controllers.csv_removal import FINALIZER, Removal
from olm_classic.controllers.csv_stores import CsvStores
from olm_classic.controllers.csv_watches import CsvWatches
from olm_classic.csv.machine import Facts, next_change
from olm_classic.csv.membership import (
    Leave,
    Mark,
    Member,
    Provide,
    Refuse,
    Verdict,
    examine,
    has_unselected_group,
)
from olm_classic.csv.phases import Change, Phase, changed, has_given_up, phase_of
from olm_classic.csv.timing import seconds_until_look
from olm_classic.io.cluster_proxy import ClusterProxy
from olm_classic.io.owned_apis import OwnedApis
from olm_classic.io.server_version import ServerVersion
from olm_classic.kinds import OPERATOR_GROUP
from olm_classic.names import ANNOTATION_PROVIDED_APIS, LABEL_COPIED_FROM
from olm_classic.operator_groups.strategy import fails_forward
from olm_runtime.controller.manager import Manager, Registration
from olm_runtime.controller.requests import Request, namespaced_name
from olm_runtime.kube.errors import ConflictError, NotFoundError
from olm_runtime.outcome import Done, Failed, Outcome, Wait
from olm_runtime.watch.store import Store

DISCOVERY_SECONDS = 2.0
"""Until it is asked again what the server serves, where that is waited for."""
DISRUPTION_SECONDS = 10.0
"""Until API services are asked for again that are away because their pods come or go."""
NAME = "cluster-service-version"
MAX_STEPS = 12
"""In a row; what takes more goes to the end of the queue."""
CROWDED_SECONDS = 1.0
UNSEEN_SECONDS = 0.5
"""Until the event of something should have come that a list has shown."""


class Upgrades(Protocol):
    """Counts upgrades."""

    upgrades: int


class ClusterServiceVersions:
    """Reconciles those that are no copies."""

    def __init__(
        self,
        manager: Manager,
        stores: CsvStores,
        owned: OwnedApis,
        metrics: Upgrades,
        *,
        clock: Callable[[], datetime],
    ) -> None:
        """`owned` has API services and webhooks."""
        self._manager = manager
        self._stores = stores
        self._metrics = metrics
        self._clock = clock
        self._owned = owned
        self._watches = CsvWatches(manager, stores, NAME, owned.leftovers.owners)
        self.proxy = ClusterProxy(manager.client, stores.crds, self._watches.enqueue_all)
        version = ServerVersion(manager.client)
        self._observer = Observer(manager.client, stores, owned, self.proxy, version, clock)
        self._installer = Installer(stores, self._observer, owned)
        self._removal = Removal(manager.client, stores, owned)
        self._providing = asyncio.Lock()
        """Two groups are not to provide the same at the same moment."""

    def registration(self) -> Registration:
        """The controller as a manager runs it."""
        return Registration(
            name=NAME,
            reconciler=self,
            watches=self._watches.all(),
            resync=self._watches.existing,
        )

    async def reconcile(self, request: Request) -> Outcome:
        """Brings one as far as it comes now. Raises OLMError."""
        namespace, name = namespaced_name(request)
        self._stores.csvs.check_synced()
        for _ in range(MAX_STEPS):
            csv = self._stores.csvs.get(name, namespace)
            if csv is None:
                await self._owned.leftovers.sweep(namespace, name)
                return Done()
            if LABEL_COPIED_FROM in labels_of(csv):
                return Done()
            outcome = await self._step(csv)
            if outcome is not None:
                return outcome
        return Wait(CROWDED_SECONDS)

    async def report_failure(self, request: Request, failed: Failed) -> None:
        """There is nothing to say beyond the log: what keeps it is in its status."""

    async def _step(self, csv: KubeObject) -> Outcome | None:
        """One step; None where another may follow. Raises OLMError."""
        if is_deleting(csv):
            self._installer.forget(csv)
            return await self._removal.finish(csv)
        if phase_of(csv.get("status") or {}) is Phase.DELETING:
            await self._manager.client.delete(csv, uid=str(metadata(csv)["uid"]))
            return Done()
        if has_given_up(csv.get("status") or {}):
            return await self._wait_for_rights(csv)
        return await self._judge(csv)

    async def _judge(self, csv: KubeObject) -> Outcome | None:
        """What its membership allows. Raises OLMError."""
        verdict = self._examine(csv)
        match verdict:
            case Leave():
                return Done()
            case Mark():
                await self._mark(csv, verdict)
            case Provide():
                await self._provide(csv, verdict)
            case Refuse():
                if await self._has_unseen_group(csv):
                    return Wait(UNSEEN_SECONDS)
                if verdict.ends_deployments:
                    await self._stores.deployments.retire(csv)
                return None if await self._enter(csv, verdict.change) else Done()
            case Member():
                if FINALIZER in finalizers_of(csv):
                    return await self._go_on(csv, verdict.group)
                await self._mark(csv, Mark())
        return None

    async def _has_unseen_group(self, csv: KubeObject) -> bool:
        """Whether there is an OperatorGroup without an event yet: each kind has its own watch.

        So it is with one that is new and whose namespaces nobody has selected yet.
        """
        if groups := self._stores.groups_of(csv):
            return has_unselected_group(groups, self._clock())
        found, _ = await self._manager.client.list_all(
            OPERATOR_GROUP, namespace_of(csv), metadata_only=True
        )
        return not all(map(is_deleting, found))

    def _examine(self, csv: KubeObject) -> Verdict:
        return examine(csv, self._stores.groups_of(csv), self._stores.rivals_of(csv))

    async def _wait_for_rights(self, csv: KubeObject) -> Outcome | None:
        """Of one that failed for good: only other rights change that, or a replacement."""
        groups = self._stores.groups_of(csv)
        facts = Facts(
            now=self._clock(),
            chain=self._stores.chain_of(csv),
            fail_forward=fails_forward(groups),
            rights_changed=self._installer.rights_changed(csv, groups),
        )
        return None if await self._enter(csv, next_change(csv, facts)) else Done()

    async def _go_on(self, csv: KubeObject, group: KubeObject) -> Outcome | None:
        """From its phase to the next."""
        if phase_of(csv.get("status") or {}) is Phase.INSTALL_READY:
            installed = await self._installer.install(csv, group)
            facts = Facts(self._clock(), self._stores.chain_of(csv), applied=installed.applied)
            entered = await self._enter(csv, next_change(csv, facts), installed.status)
            return None if entered else Done()
        found = await self._observer.observe(csv, group)
        facts = found.facts
        if facts.is_paused and not self._installer.was_tried(csv, found.attempt):
            facts = replace(facts, is_paused=False)
        entered = await self._enter(csv, next_change(csv, facts), found.status_of(csv))
        return None if entered else self._rest(csv, found)

    def _rest(self, csv: KubeObject, found: Findings) -> Outcome:
        """Until something happens; what no event reports is looked at again."""
        status = csv.get("status") or {}
        times = [
            found.pause,
            seconds_until_look(status, self._clock()),
            self._owned.seconds_until_due(csv),
        ]
        if found.awaits_discovery(csv):
            times.append(DISCOVERY_SECONDS)
        if found.facts.is_disrupted:
            times.append(DISRUPTION_SECONDS)
        return Done(requeue_after=min(filter(None, times), default=None))

    async def _enter(
        self, csv: KubeObject, change: Change | None, also: Mapping[str, Any] | None = None
    ) -> bool:
        """Writes what is new in its status, and announces it; whether there was anything."""
        before = csv.get("status") or {}
        after = dict(before) if change is None else changed(before, change, self._clock())
        is_new = after != before
        status = {**after, **(also or {})}
        if status == before or await self._manager.statuses.write(csv, status) is None:
            return False
        if change is not None and is_new:
            self._manager.events.announce(csv, [change.happening])
            self._metrics.upgrades += change.phase is Phase.REPLACING
        return True

    async def _mark(self, csv: KubeObject, mark: Mark) -> None:
        """Writes its metadata, with the finalizer."""
        meta: dict[str, Any] = {}
        if mark.labels:
            meta["labels"] = dict(mark.labels)
        if mark.annotations:
            meta["annotations"] = dict(mark.annotations)
        if FINALIZER not in finalizers_of(csv):
            meta["finalizers"] = [*finalizers_of(csv), FINALIZER]
        await self._patch(csv, meta, self._stores.csvs)

    async def _provide(self, csv: KubeObject, wanted: Provide) -> None:
        """Has its group provide its APIs, if nobody was faster."""
        async with self._providing:
            group = self._stores.groups.get(wanted.group, namespace_of(csv))
            if group is None or self._examine(csv) != wanted:
                return
            annotations = {ANNOTATION_PROVIDED_APIS: wanted.annotation}
            await self._patch(group, {"annotations": annotations}, self._stores.groups)

    async def _patch(
        self, obj: KubeObject, meta: Mapping[str, Any], store: Store[KubeObject]
    ) -> None:
        """Patches metadata of the version that was seen; a newer one is read. Raises ApiError."""
        client = self._manager.client
        patch = {"metadata": {**meta, "resourceVersion": metadata(obj)["resourceVersion"]}}
        try:
            store.update(await client.patch(obj, patch))
        except NotFoundError:
            store.delete(obj)
        except ConflictError:
            found = await client.find(gvk_of(obj), name_of(obj), namespace_of(obj))
            if found is None:
                store.delete(obj)
            else:
                store.update(found)
