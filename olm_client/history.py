"""Reads from a cluster the revisions of an extension, and changes what the extension asks for."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from api.objects import GVK, KubeObject, condition, gvk_of, labels_of, metadata, name_of
from api.olm.v1 import names
from api.olm.v1.clusterextension import ClusterExtension
from api.olm.v1.kinds import OBJECT_SET
from api.wire import InvalidObjectError
from olm_client.extension import find_extension
from olm_client.field_manager import FIELD_MANAGER
from olm_rollout.io.definitions import DEFINITION
from olm_runtime.errors import TerminalError
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import ConflictError, ForbiddenError
from operator_controller.apply.history import state_of
from operator_controller.apply.owners import owner_labels
from operator_controller.apply.revisions import Revision, Revisions
from operator_controller.apply.unpack import refs, unpack

WRITE_TRIES = 5

SECRET = GVK("", "v1", "Secret")


class Record(NamedTuple):
    """An extension and its revisions."""

    raw: KubeObject
    extension: ClusterExtension
    revisions: Revisions


async def read_record(kube: KubeClient, name: str) -> Record:
    """Raises TerminalError if there is no such extension, ApiError."""
    raw = await find_extension(kube, name)
    labels = owner_labels(names.CLUSTER_EXTENSION, name)
    selector = ",".join(f"{key}={value}" for key, value in labels.items())
    found, _ = await kube.list_all(OBJECT_SET, labels=selector)
    return record_of(raw, found)


def record_of(raw: KubeObject, object_sets: Iterable[KubeObject]) -> Record:
    """Of an extension, among sets of objects. Raises TerminalError if it is not valid."""
    try:
        extension = ClusterExtension.from_object(raw)
    except InvalidObjectError as error:
        raise TerminalError(str(error)) from error
    labels = owner_labels(names.CLUSTER_EXTENSION, name_of(raw)).items()
    own = [each for each in object_sets if labels <= labels_of(each).items()]
    return Record(raw, extension, Revisions.of(own))


async def content_of(kube: KubeClient, revision: Revision, *, what_for: str) -> list[KubeObject]:
    """The objects that a revision holds, in the order of their phases.

    Raises TerminalError, with `what_for` in its hint, if their Secrets may not be read;
    ContentError or MissingContentError if they are not whole.
    """
    spec = revision.raw.get("spec") or {}
    home = names.DEFAULT_SYSTEM_NAMESPACE
    references = sorted(refs(spec.get("phases") or (), home))
    try:
        found = await asyncio.gather(
            *(kube.find(SECRET, name, namespace) for namespace, name in references)
        )
    except ForbiddenError as error:
        raise TerminalError(
            f"cannot look into {revision.name}: {error.message}",
            hint=f"{what_for}: that needs the permission to get Secrets in the system namespace",
        ) from error
    secrets = {
        where: secret for where, secret in zip(references, found, strict=True) if secret is not None
    }
    return [obj for phase in unpack(spec, secrets, home) for obj in phase.objects]


def definitions_in(objects: Iterable[KubeObject]) -> dict[str, KubeObject]:
    """The CustomResourceDefinitions among objects, by name."""
    return {name_of(obj): obj for obj in objects if gvk_of(obj) == DEFINITION}


async def live(kube: KubeClient, crds: Iterable[str]) -> Mapping[str, KubeObject]:
    """Those of the definitions that the cluster has."""
    named = list(crds)
    found = await asyncio.gather(*(kube.find(DEFINITION, name) for name in named))
    return {name: crd for name, crd in zip(named, found, strict=True) if crd is not None}


async def change(kube: KubeClient, record: Record, patch: Mapping[str, Any]) -> None:
    """Merges into the spec that was read, whatever became of the status meanwhile.

    Raises TerminalError if it is another by now.
    """
    now = record.raw
    for _ in range(WRITE_TRIES):
        body = {**patch, "metadata": {"resourceVersion": metadata(now)["resourceVersion"]}}
        try:
            await kube.patch(now, body, field_manager=FIELD_MANAGER)
        except ConflictError:
            now = await find_extension(kube, name_of(now))
            if _wanted(now) != _wanted(record.raw):
                break
        else:
            return
    raise TerminalError(
        f'ClusterExtension "{name_of(record.raw)}" was changed by somebody else meanwhile',
        hint="look at it and run the command again",
    )


def _wanted(extension: KubeObject) -> tuple[Any, ...]:
    """What shows that somebody wants something else: not the status, nor who wrote it."""
    meta = metadata(extension)
    return meta["uid"], meta.get("generation"), meta.get("deletionTimestamp")


def revision_facts(revision: Revision, record: Record) -> dict[str, Any]:
    """A revision as data."""
    bundle = revision.bundle
    progressing = condition(revision.raw, "Progressing") or {}
    return {
        "revision": revision.number,
        "name": revision.name,
        "version": bundle.version,
        "bundle": bundle.name,
        "package": bundle.package,
        "image": bundle.image,
        "created": metadata(revision.raw).get("creationTimestamp", ""),
        "state": state_of(revision, record.revisions).value,
        "cause": revision.cause or "unknown",
        "message": progressing.get("message", ""),
    }
