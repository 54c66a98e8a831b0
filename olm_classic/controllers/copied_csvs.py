"""Makes copies of ClusterServiceVersions, keeps them like what they are copied from, removes them.

Requests are single copies, also those that are missing: with a thousand namespaces nothing that
happens to one of them looks at the others. What happens to an operator is a matter of
`copy_sources`.
"""

import asyncio
from dataclasses import dataclass

from api.objects import KubeObject, annotations_of, is_deleting, labels_of, metadata
from olm_classic.controllers.known_copies import COPIES, KnownCopies, key_request
from olm_classic.copies.records import ANNOTATION_REST_HASH, Record, trimmed
from olm_classic.copies.sources import Key, Source
from olm_classic.copies.wanted import Wanted
from olm_classic.kinds import CLUSTER_SERVICE_VERSION
from olm_classic.names import COPIES_FIELD_MANAGER, LABEL_COPIED_FROM
from olm_classic.selections import NAMESPACES
from olm_runtime.controller.handlers import Change, Enqueue
from olm_runtime.controller.manager import Manager, Registration, Watch
from olm_runtime.controller.priority import PriorityGate
from olm_runtime.controller.requests import Request, namespaced_name, request_for
from olm_runtime.kube.errors import AlreadyExistsError, ForbiddenError, NotFoundError
from olm_runtime.kube.media_types import JSON_PATCH, MERGE_PATCH
from olm_runtime.lanes import Priority
from olm_runtime.outcome import Done, Failed, Outcome

NAME = "copied-csvs"
WORKERS = 32
"""Of these half make and change copies when an operator does."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What of a copy is to be written, and whether others are to own nothing of it."""

    status: bool
    rest: bool
    owners: bool = False


class CopiedCSVs:
    """Brings one copy to what it is to be."""

    def __init__(self, manager: Manager, known: KnownCopies, gate: PriorityGate | None) -> None:
        """`gate` is shared with what goes before."""
        self._client = manager.client
        self._known = known
        self._gate = gate
        self._first_looks: dict[tuple[Key, str, str], asyncio.Event] = {}
        """Under way, by source, hash and fields: copies that are alike need not be read, too."""

    def registration(self) -> Registration:
        """The row of this controller."""
        return Registration(
            name=NAME,
            reconciler=self,
            watches=[
                Watch(COPIES, self._on_copy, predicates=[_is_not_initial]),
                Watch(CLUSTER_SERVICE_VERSION, self._on_csv, predicates=[_comes_or_goes]),
                Watch(NAMESPACES, self._on_namespace, predicates=[_is_not_initial]),
            ],
            workers=WORKERS,
            gate=self._gate,
        )

    def _on_copy(self, event: Change, enqueue: Enqueue) -> None:
        """What this controller wrote needs nothing, or no haste: else it would hold itself up."""
        known, (namespace, name) = self._known, event.key
        if event.new is None:
            if known.sources.copied_to(namespace, name, known.copying) is not None:
                enqueue(key_request(event.key))
            return
        record = Record.of(event.new)
        source = known.sources.get((record.origin, name))
        if source is None or not known.settled(source, [namespace]):
            urgent = source is None or record.foreign
            priority = Priority.NORMAL if urgent else Priority.LOW
            enqueue(key_request(event.key), priority=priority)

    def _on_csv(self, event: Change, enqueue: Enqueue) -> None:
        """One that is no copy takes the place of a copy, or leaves it."""
        enqueue(key_request(event.key))

    def _on_namespace(self, event: Change, enqueue: Enqueue) -> None:
        if event.old and event.new and is_deleting(event.old) == is_deleting(event.new):
            return
        namespace = event.key[1]
        for source in self._known.sources.works_in(namespace):
            enqueue(request_for(source.key[1], namespace))

    async def reconcile(self, request: Request) -> Outcome:
        """Makes, changes or removes the copy of a namespace and name. Raises ApiError."""
        known = self._known
        known.check_synced()
        key = namespaced_name(request)
        copy = known.copy(key)
        if copy is None:
            await self._make_missing(key)
            return Done()
        record = Record.of(copy)
        if record.deleting:
            return Done()
        source = known.sources.get((record.origin, key[1]))
        if source is None or not known.copying.allows(source, key[0]):
            await self._client.delete(copy, uid=record.uid)
        elif source.copied and known.is_active(key[0]):
            await self._keep(key, record, source)
        return Done()

    async def report_failure(self, request: Request, failed: Failed) -> None:
        """It is in the log, and OLMConfig says that a copy is missing."""

    async def _make_missing(self, key: Key) -> None:
        namespace, name = key
        known = self._known
        source = known.sources.copied_to(namespace, name, known.copying)
        wanted = known.wanted(source) if source is not None else None
        if source is None or wanted is None or not known.is_active(namespace):
            return
        csv = known.csvs.get(name, namespace)
        if csv is not None and not _lost_its_label(csv):
            return
        try:
            made: KubeObject = await self._client.create(
                wanted.new(namespace), field_manager=COPIES_FIELD_MANAGER, metadata_only=True
            )
        except AlreadyExistsError:
            await self._take_back(key, source, wanted)
        except (ForbiddenError, NotFoundError):
            if not await self._is_ending(namespace):
                raise
        else:
            await self._write(_csv(made), source, wanted, Parts(status=True, rest=False))

    async def _is_ending(self, namespace: str) -> bool:
        """Whether a namespace ends, which the store may not know yet."""
        found = await self._client.find(NAMESPACES.gvk, namespace, metadata_only=True)
        return found is None or is_deleting(found)

    async def _take_back(self, key: Key, source: Source, wanted: Wanted) -> None:
        """A copy that the store did not know, or that lost the label by which copies are known."""
        live = await self._client.find(CLUSTER_SERVICE_VERSION, key[1], key[0])
        if live is None or is_deleting(live):
            return
        if _is_copy(live) or _lost_its_label(live):
            await self._compare(live, source, wanted)

    async def _keep(self, key: Key, record: Record, source: Source) -> None:
        """Of a copy that nobody touched the hashes show what to write; any other is read."""
        alike = source.key, record.hashes.rest, record.fields
        first = self._first_looks.get(alike)
        if first is not None:
            await first.wait()
        wanted = self._known.wanted(source)
        if wanted is None or self._known.is_settled(source, record, wanted.hashes):
            return
        if self._known.is_as_left(source, record):
            parts = Parts(
                status=record.hashes.status != wanted.hashes.status,
                rest=record.hashes.rest != wanted.hashes.rest,
            )
            await self._write(_reference(key, record.version), source, wanted, parts)
        elif first is not None:
            await self._look(key, source, wanted)
        else:
            self._first_looks[alike] = asyncio.Event()
            try:
                await self._look(key, source, wanted)
            finally:
                self._first_looks.pop(alike).set()

    async def _look(self, key: Key, source: Source, wanted: Wanted) -> None:
        live = await self._client.find(CLUSTER_SERVICE_VERSION, key[1], key[0])
        if live is not None:
            await self._compare(live, source, wanted)

    async def _compare(self, live: KubeObject, source: Source, wanted: Wanted) -> None:
        """Writes what is not so in a copy, whole."""
        record = Record.of(live)
        parts = Parts(
            status=not wanted.has_status(live),
            rest=record.foreign or not wanted.has_rest(live),
            owners=True,
        )
        await self._write(live, source, wanted, parts)

    async def _write(self, copy: KubeObject, source: Source, wanted: Wanted, parts: Parts) -> None:
        """The hash of the status last: it stands for a status that is there."""
        if parts.status:
            patch = wanted.status_patch(_version(copy))
            copy = await self._patched(copy, patch, subresource="status")
        if parts.rest:
            copy = await self._patched(copy, wanted.rest_patch(_version(copy), owned=parts.owners))
        elif Record.of(copy).hashes != wanted.hashes:
            copy = await self._patched(
                copy, wanted.status_hash_patch(_version(copy)), content_type=MERGE_PATCH
            )
        self._known.note_checked(source, Record.of(copy))
        self._known.copies.update(trimmed(copy))

    async def _patched(
        self,
        copy: KubeObject,
        patch: object,
        *,
        subresource: str = "",
        content_type: str = JSON_PATCH,
    ) -> KubeObject:
        """The metadata of a copy after a patch. Raises ConflictError, NotFoundError, ApiError."""
        answer = await self._client.patch(
            copy,
            patch,
            subresource=subresource,
            content_type=content_type,
            field_manager=COPIES_FIELD_MANAGER,
            metadata_only=True,
        )
        return _csv(answer)


def _csv(answer: KubeObject) -> KubeObject:
    """Metadata under the kind that it is of."""
    gvk = CLUSTER_SERVICE_VERSION
    return {**answer, "apiVersion": gvk.api_version, "kind": gvk.kind}


def _reference(key: Key, version: str) -> KubeObject:
    namespace, name = key
    return _csv({"metadata": {"namespace": namespace, "name": name, "resourceVersion": version}})


def _version(obj: KubeObject) -> str:
    return str(metadata(obj)["resourceVersion"])


def _lost_its_label(csv: KubeObject) -> bool:
    """Whether somebody took the label of a copy away: else it is an operator of its own."""
    return ANNOTATION_REST_HASH in annotations_of(csv)


def _is_copy(csv: KubeObject) -> bool:
    return LABEL_COPIED_FROM in labels_of(csv)


def _is_not_initial(event: Change) -> bool:
    return not event.initial


def _comes_or_goes(event: Change) -> bool:
    return not event.initial and (event.old is None or event.new is None)
