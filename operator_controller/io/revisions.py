"""ClusterObjectSets and the Secrets with their content, in the cluster.

Secrets come first and the ClusterObjectSet last, so that a revision which exists is complete.
A kill in between leaves only Secrets, which the next revision or the deletion of the extension
sweeps away.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from api.objects import KubeObject, labels_of, metadata, name_of
from api.olm.v1 import names
from api.olm.v1.kinds import OBJECT_SET
from olm_rollout.io.together import together
from olm_rollout.phases import Phase, content_digest
from olm_runtime.errors import TransientError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import AlreadyExistsError, NotFoundError
from olm_runtime.watch.store import Store
from operator_controller.apply.desired import Content, Desired, revision_name, revision_object
from operator_controller.apply.helm_release import Release
from operator_controller.apply.history import cause_of, with_content_of
from operator_controller.apply.owners import owner_labels
from operator_controller.apply.pack import holds_the_same, is_content_of, pack
from operator_controller.apply.revisions import Revision, Revisions, parse_revision
from operator_controller.apply.stored import ContentError
from operator_controller.apply.unpack import (
    MISSING_SECONDS,
    MissingContentError,
    Where,
    refs,
    unpack,
)
from operator_controller.io.contents import ContentCache, StoredContent
from operator_controller.io.helm_releases import find_release
from operator_controller.io.system_secrets import CONTENT_ONLY, SECRET, SystemSecrets

PARALLEL_SECRETS = 4

BY_OWNER = "owner"
"""The index of ClusterObjectSets by the values of their owner labels."""


class NameTakenError(TransientError):
    """Another Secret has the name of one that is to hold content. Heals when it is gone."""


class RevisionStore:
    """Reads and writes revisions with the controller's own identity."""

    def __init__(
        self,
        client: KubeClient,
        object_sets: Store[KubeObject],
        system_namespace: str,
        secrets: SystemSecrets | None = None,
    ) -> None:
        self._client = client
        self._namespace = system_namespace
        self._object_sets = object_sets
        self._system_secrets = secrets or SystemSecrets()
        object_sets.add_index(BY_OWNER, _owner_labels)
        self._in_creation: set[str] = set()
        self._contents = ContentCache()

    async def of_extension(self, extension: str, *, at_this_moment: bool = False) -> Revisions:
        """All revisions of an extension. Raises NotSyncedError, ApiError at this moment."""
        wanted = owner_labels(names.CLUSTER_EXTENSION, extension)
        if at_this_moment:
            found, _ = await self._client.list_all(OBJECT_SET, labels=_selector(wanted))
            for raw in found:
                self._object_sets.update(raw)
            return Revisions.of(found)
        self._object_sets.check_synced()
        return Revisions.of(self._object_sets.by_index(BY_OWNER, tuple(wanted.values())))

    def of_all_extensions(self) -> list[KubeObject]:
        """The ClusterObjectSets of all extensions. Raises NotSyncedError."""
        self._object_sets.check_synced()
        return [
            raw
            for raw in self._object_sets.objects()
            if labels_of(raw).get(names.LABEL_OWNER_KIND) == names.CLUSTER_EXTENSION
        ]

    async def inherited(self, extension: str, uid: str) -> Release | None:
        """What upstream's controller installed by Helm; None where it did not. Raises OLMError."""
        if not self._system_secrets.may_have_release(extension):
            return None
        return await find_release(self._client, self._namespace, extension, uid)

    async def find(self, name: str, *, at_this_moment: bool = False) -> KubeObject | None:
        """One ClusterObjectSet, or None. Raises NotSyncedError, ApiError at this moment."""
        if at_this_moment:
            return await self._client.find(OBJECT_SET, name)
        self._object_sets.check_synced()
        return self._object_sets.get(name)

    async def is_set_free(self, revision: Revision) -> bool:
        """Whether it is there, and lost its extension, at this moment. Raises ApiError."""
        found = await self._client.find(OBJECT_SET, revision.name, metadata_only=True)
        return found is not None and parse_revision(found).is_set_free

    async def create(self, desired: Desired, revisions: Revisions) -> Revision:
        """Writes the next revision. Raises ContentError, ApiError."""
        number = revisions.next_number
        name = revision_name(desired.extension, number)
        packed = pack(name, names.label_value(desired.extension), self._namespace, desired.phases)
        retained = {name_of(secret) for secret in packed.secrets}
        await together(
            (
                self._sweep(desired.extension, revisions, retained),
                self._ensure_all(packed.secrets),
            )
        )
        revision = revision_object(
            desired,
            number,
            packed.phases,
            cause=cause_of(revisions, desired.bundle, desired.generation),
        )
        self._in_creation.add(name)
        try:
            created = await self._client.create(revision, field_manager=names.FIELD_MANAGER)
            self._object_sets.update(created)
            await together(self._own_anew(created, each) for each in packed.secrets)
        finally:
            self._in_creation.discard(name)
        return parse_revision(created)

    async def _own_anew(self, created: KubeObject, secret: KubeObject) -> None:
        try:
            await self._own(created, [secret])
        except NotFoundError:  # it was a former revision's of this name, and went with it
            await self._ensure(secret)
            await self._own(created, [secret])

    async def is_whole(self, revision: Revision) -> bool:
        """Whether the content of a revision is all there, as it was stored."""
        spec = revision.raw.get("spec") or {}
        secrets = await self._read(self._wanted(spec), self._client)
        try:
            unpack(spec, secrets, self._namespace)
        except MissingContentError:
            return False
        except ContentError:
            return True  # wrong in a way that no other copy of it would mend
        return True

    async def restore(self, revision: Revision, extension: str, phases: Sequence[Phase]) -> None:
        """Makes the Secrets of a revision again that somebody deleted; `phases` are its content.

        Equal content is packed into Secrets of equal names.
        """
        packed = pack(revision.name, names.label_value(extension), self._namespace, phases)
        await self._ensure_all(packed.secrets)
        await self._own(revision.raw, packed.secrets)

    async def _ensure_all(self, secrets: Sequence[KubeObject]) -> None:
        """Some at a time: each is nearly a megabyte."""
        slots = asyncio.Semaphore(PARALLEL_SECRETS)

        async def ensure(secret: KubeObject) -> None:
            async with slots:
                await self._ensure(secret)

        await together(ensure(secret) for secret in secrets)

    async def _ensure(self, secret: KubeObject) -> None:
        try:
            created = await self._client.create(
                secret, field_manager=names.FIELD_MANAGER, metadata_only=True
            )
        except AlreadyExistsError:
            await self._check_same(secret)
        else:
            self._system_secrets.contents.update(created)

    async def _check_same(self, secret: KubeObject) -> None:
        """The name has the digest of the content, but anybody may have made a Secret of it."""
        name = name_of(secret)
        found = await self._client.find(SECRET, name, self._namespace)
        if found is not None and not holds_the_same(found, secret):
            raise NameTakenError(
                f"Secret {self._namespace}/{name} is to hold content of a revision, but is another",
                hint=f"delete it: kubectl delete secret {name} --namespace {self._namespace}",
                within=MISSING_SECONDS,
            )

    async def content(self, raw: KubeObject, account: KubeClient) -> StoredContent:
        """What a set holds. Raises ContentError, MissingContentError, ApiError.

        Secrets outside the system namespace are read as the account: a revision gives nobody
        sight of what he may not read himself. What is decoded is cached until `release`.
        """
        spec = raw.get("spec") or {}
        wanted = self._wanted(spec)
        if self._contents.knows(raw):
            now = await self._metadata(wanted, account)
            if (cached := self._contents.find(raw, now)) is not None:
                return cached
        secrets = await self._read(wanted, account, recent=True)
        try:
            phases = unpack(spec, secrets, self._namespace)
        except ContentError:  # it may be what was there a moment ago, and nobody would look again
            secrets = await self._read(wanted, account)
            phases = unpack(spec, secrets, self._namespace)
        orphans = [
            secret
            for (namespace, _), secret in secrets.items()
            if namespace == self._namespace and not metadata(secret).get("ownerReferences")
        ]
        content = StoredContent(phases)
        if not orphans:
            self._contents.keep(raw, secrets, content)
        elif name_of(raw) not in self._in_creation:  # who creates it is about to do the same
            await self._own(raw, orphans)
        return content

    async def _metadata(
        self, wanted: Sequence[Where], account: KubeClient
    ) -> dict[Where, KubeObject]:
        """The metadata of those Secrets that are there: as watched, where one was seen."""
        seen = {where: self._system_secrets.content(*where) for where in wanted}
        found = {where: secret for where, secret in seen.items() if secret is not None}
        unseen = [where for where in wanted if where not in found]
        return found | await self._read(unseen, account, metadata_only=True, recent=True)

    def release(self, raw: KubeObject) -> None:
        """Forgets the content of a set that nobody works on for now."""
        self._contents.drop(raw)

    def _wanted(self, spec: Mapping[str, Any]) -> list[Where]:
        """The Secrets that a ClusterObjectSet's spec refers to."""
        return sorted(refs(spec.get("phases") or (), self._namespace))

    async def _read(
        self,
        wanted: Sequence[Where],
        account: KubeClient,
        *,
        metadata_only: bool = False,
        recent: bool = False,
    ) -> dict[Where, KubeObject]:
        """Those Secrets that are there. `recent`: as `KubeClient.find_recent` has them."""
        readers = (self._client if space == self._namespace else account for space, _ in wanted)
        found = await asyncio.gather(
            *(
                (reader.find_recent if recent else reader.find)(
                    SECRET, name, namespace, metadata_only=metadata_only
                )
                for reader, (namespace, name) in zip(readers, wanted, strict=True)
            )
        )
        return {
            where: secret for where, secret in zip(wanted, found, strict=True) if secret is not None
        }

    async def content_of_same_inputs(self, inputs: str, revisions: Revisions) -> Content | None:
        """The content of a retained revision that was rendered from the same; None without one.

        Content that is not whole any more counts as none.
        """
        revision = with_content_of(inputs, revisions)
        if revision is None:
            return None
        try:
            phases = (await self.content(revision.raw, self._client)).phases
        except (ContentError, MissingContentError):
            return None
        whole = content_digest(phases) == revision.content
        return Content(phases, revision.properties) if whole else None

    async def patch(self, revision: Revision, patch: Mapping[str, Any]) -> KubeObject:
        """Merge-patches a ClusterObjectSet; as it is now."""
        patched: KubeObject = await self._client.patch(
            revision.raw, patch, field_manager=names.FIELD_MANAGER
        )
        self._object_sets.update(patched)
        return patched

    async def set_finalizers(self, raw: KubeObject, finalizers: Sequence[str]) -> None:
        """Replaces the finalizers of a ClusterObjectSet if it is still as it was read."""
        meta = {
            "finalizers": list(finalizers),
            "uid": metadata(raw)["uid"],
            "resourceVersion": metadata(raw)["resourceVersion"],
        }
        self._object_sets.update(await self._client.patch(raw, {"metadata": meta}))

    async def archive(self, revision: Revision, *, as_read: bool = False) -> KubeObject:
        """Takes a revision out of service: its reconcile removes what only it had.

        With `as_read`, raises ConflictError if it has changed since it was read.
        """
        patch: dict[str, Any] = {"spec": {"lifecycleState": "Archived"}}
        if as_read:
            version = metadata(revision.raw)["resourceVersion"]
            patch["metadata"] = {"uid": revision.uid, "resourceVersion": version}
        return await self.patch(revision, patch)

    async def delete(self, revision: Revision) -> None:
        """Deletes a revision; its Secrets follow it."""
        held = await self._client.delete(revision.raw, uid=revision.uid)
        known = self._object_sets.get(revision.name)
        if held is None and known is not None and metadata(known)["uid"] == revision.uid:
            self._object_sets.delete(known)

    async def delete_orphans(
        self, extension: KubeObject, known: Revisions, *, orphaning: bool
    ) -> None:
        """Removes what does not follow an extension that is deleted by its owner references.

        That are Secrets which no revision refers to, and revisions that are set free with the
        objects which are to stay: they would go on working for an extension that is not there. It
        takes a list of the moment to see that they were, where any are `known`.
        """
        name = name_of(extension)
        revisions = await self.of_extension(name, at_this_moment=True) if known.every else known
        for revision in revisions.every:
            if orphaning or revision.is_set_free:
                await self.delete(revision)
        await self._sweep(name, revisions, set())

    async def _sweep(self, extension: str, revisions: Revisions, retained: set[str]) -> None:
        """Removes what a kill between Secrets and revision left behind, but for `retained`.

        What has an owner goes with it.
        """
        phases = [p for r in revisions.every for p in (r.raw.get("spec") or {}).get("phases") or ()]
        used = refs(phases, self._namespace)
        found = self._system_secrets.contents_of(extension)
        if found is None:
            labels = f"{names.LABEL_OWNER_NAME}={names.label_value(extension)}"
            found, _ = await self._client.list_all(
                SECRET, self._namespace, labels=labels, fields=CONTENT_ONLY, metadata_only=True
            )
        for secret in filter(_is_unowned, found):
            name = name_of(secret)
            if name not in retained and (self._namespace, name) not in used:
                await self._client.delete(secret, uid=metadata(secret)["uid"])

    async def _own(self, owner: KubeObject, secrets: Sequence[KubeObject]) -> None:
        reference = {
            "apiVersion": names.API_VERSION,
            "kind": names.CLUSTER_OBJECT_SET,
            "name": name_of(owner),
            "uid": metadata(owner)["uid"],
            "controller": True,
        }
        for secret in secrets:
            if is_content_of(secret, name_of(owner)):
                owning = {"metadata": {"ownerReferences": [reference]}}
                patched = await self._client.patch(secret, owning, metadata_only=True)
                self._system_secrets.contents.update(patched)


def _is_unowned(secret: KubeObject) -> bool:
    """Whether it was made for a revision, and no revision has it yet."""
    ours = names.LABEL_REVISION_NAME in labels_of(secret)
    return ours and not metadata(secret).get("ownerReferences")


def _selector(labels: Mapping[str, str]) -> str:
    return ",".join(f"{key}={value}" for key, value in labels.items())


def _owner_labels(raw: KubeObject) -> list[tuple[str | None, ...]]:
    labels = labels_of(raw)
    return [tuple(labels.get(label) for label in owner_labels("", ""))]
