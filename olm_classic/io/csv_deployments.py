"""Writes the Deployments of ClusterServiceVersions. What is so already is not written again."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from api.objects import (
    KubeObject,
    ObjectKey,
    annotations_of,
    gvk_of,
    key_of,
    labels_of,
    metadata,
    name_of,
    namespace_of,
)
from olm_classic.csv.installation import is_disrupted
from olm_classic.csv.owner import owner_of
from olm_classic.io.account_rights import OWNER
from olm_classic.io.step_errors import refuse_foreign
from olm_classic.names import LABEL_DEPLOYMENT_HASH
from olm_content.names import CSV_KIND
from olm_rollout.io.pods import pods_of, why_not_running
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import (
    AlreadyExistsError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
)
from olm_runtime.kube.media_types import JSON_PATCH
from olm_runtime.watch.store import Store

MANAGER = "olm-operator"
AUTHORIZER_SECONDS = 1.0
"""In which an API server has heard of rights that were given."""
NEWER_VERSIONS = 3
"""Which are read at once, one after the other, where the one that was known is no more."""
RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"
"""The annotation of pod templates by which users restart pods; it is theirs."""

Patch = list[dict[str, Any]]
Left = tuple[str, int, str]
"""UID, generation and hash of the specification."""


@dataclass(frozen=True, slots=True)
class Deployments:
    """Those of all ClusterServiceVersions.

    The specification as a whole is theirs: what somebody else sets in it goes. While an object has
    the generation with which it was left, nobody did.
    """

    client: KubeClient
    store: Store[KubeObject]
    _left: dict[ObjectKey, Left] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Adds the index by owner."""
        self.store.add_index(OWNER, owner_of)

    def live(self, wanted: Iterable[KubeObject]) -> dict[str, KubeObject]:
        """Those that there are, by name."""
        found = (self.store.get(name_of(each), namespace_of(each)) for each in wanted)
        return {name_of(each): each for each in found if each is not None}

    async def apply(self, wanted: Sequence[KubeObject], account: str) -> None:
        """Has Deployments be as wanted, with the rights of an account of their namespace if given.

        Raises StepError, ApiError. An account is refused twice before it is ForbiddenError: the API
        server may hear later of new rights than whoever watches them.
        """
        try:
            await self._apply(wanted, account)
        except ForbiddenError:
            if not account:
                raise
            await asyncio.sleep(AUTHORIZER_SECONDS)
            await self._apply(wanted, account)

    async def repair(self, wanted: Iterable[KubeObject], account: str) -> list[str]:
        """Undoes what others changed in Deployments that have the hash of what is wanted.

        Their names. Raises ApiError; what may not be written is left.
        """
        changed = []
        for each in wanted:
            found = self.store.get(name_of(each), namespace_of(each))
            if found is None or _hash(found) != _hash(each) or self._is_as_left(each, found):
                continue
            try:
                is_changed = await self._patch(each, found, self._writer(each, account))
            except (ForbiddenError, InvalidError):
                self._remember(each, found)
                continue
            if is_changed:
                changed.append(name_of(each))
        return changed

    async def retire(self, csv: KubeObject, retained: Iterable[str] = ()) -> None:
        """Deletes those that a ClusterServiceVersion owns, but for some. Raises ApiError."""
        names = set(retained)
        for each in self.store.by_index(OWNER, (namespace_of(csv), name_of(csv))):
            if name_of(each) not in names and _is_owned(each, str(metadata(csv).get("uid"))):
                await self.client.delete(each, uid=str(metadata(each)["uid"]))
                self._left.pop(key_of(each), None)

    async def why_unavailable(self, name: str, namespace: str) -> str:
        """What keeps the pods of a Deployment from running, if that can be seen."""
        found = self.store.get(name, namespace)
        return await why_not_running(self.client, found) if found is not None else ""

    async def are_disrupted(self, names: Iterable[str], namespace: str) -> bool:
        """Whether pods of some of these come or go just now."""
        found = (self.store.get(name, namespace) for name in names)
        pods = [await pods_of(self.client, each) for each in found if each is not None]
        return any(map(is_disrupted, chain.from_iterable(pods)))

    async def _apply(self, wanted: Sequence[KubeObject], account: str) -> None:
        for each in wanted:
            found = self.store.get(name_of(each), namespace_of(each))
            if found is None or not self._is_as_left(each, found):
                await self._write(each, found, account)

    async def _write(self, wanted: KubeObject, found: KubeObject | None, account: str) -> None:
        writer = self._writer(wanted, account)
        if found is None:
            try:
                made = await writer.create(wanted, field_manager=MANAGER)
            except AlreadyExistsError:
                found = await self.client.get(gvk_of(wanted), name_of(wanted), namespace_of(wanted))
            else:
                self._take(wanted, made)
                return
        refuse_foreign(found)
        try:
            await self._patch(wanted, found, writer)
        except NotFoundError:
            self.store.delete(found)
            raise

    async def _patch(self, wanted: KubeObject, found: KubeObject, writer: KubeClient) -> bool:
        """Whether it was otherwise. Raises ApiError; ConflictError where it changes all the time.

        What others may set in it goes into what is written: no version but that one is replaced.
        """
        for _ in range(NEWER_VERSIONS):
            with suppress(ConflictError):
                return await self._replace(wanted, found, writer)
            found = await self.client.get(gvk_of(wanted), name_of(wanted), namespace_of(wanted))
        return await self._replace(wanted, found, writer)

    async def _replace(self, wanted: KubeObject, found: KubeObject, writer: KubeClient) -> bool:
        written = await writer.patch(
            wanted, patch_to(wanted, found), content_type=JSON_PATCH, field_manager=MANAGER
        )
        self._take(wanted, written)
        return _generation(written) != _generation(found)

    def _writer(self, wanted: KubeObject, account: str) -> KubeClient:
        namespace = namespace_of(wanted)
        return self.client.as_service_account(namespace, account) if account else self.client

    def _take(self, wanted: KubeObject, written: KubeObject) -> None:
        self.store.update(written)
        self._remember(wanted, written)

    def _remember(self, wanted: KubeObject, live: KubeObject) -> None:
        self._left[key_of(wanted)] = _state(live, _hash(wanted))

    def _is_as_left(self, wanted: KubeObject, found: KubeObject) -> bool:
        return self._left.get(key_of(wanted)) == _state(found, _hash(wanted)) and _hash(
            found
        ) == _hash(wanted)


def patch_to(wanted: KubeObject, live: KubeObject) -> Patch:
    """A JSON patch by which a live Deployment becomes what is wanted.

    Labels and annotations of others stay, and the number of replicas where nothing is said of it.
    """
    version = metadata(live)["resourceVersion"]
    patch: Patch = [
        {"op": "replace", "path": "/metadata/resourceVersion", "value": version},
        {"op": "replace", "path": "/spec", "value": _spec(wanted, live)},
    ]
    patch += _added("labels", labels_of(wanted), labels_of(live))
    patch += _added("annotations", annotations_of(wanted), annotations_of(live))
    references = metadata(live).get("ownerReferences") or []
    own = metadata(wanted)["ownerReferences"]
    others = [each for each in references if each["kind"] != CSV_KIND]
    if references != [*others, *own]:
        patch.append({"op": "add", "path": "/metadata/ownerReferences", "value": [*others, *own]})
    return patch


def _added(part: str, wanted: dict[str, str], live: dict[str, str]) -> Iterator[dict[str, Any]]:
    if wanted and not live:
        yield {"op": "add", "path": f"/metadata/{part}", "value": wanted}
        return
    for key, value in wanted.items():
        if live.get(key) != value:
            step = key.replace("~", "~0").replace("/", "~1")
            yield {"op": "add", "path": f"/metadata/{part}/{step}", "value": value}


def _spec(wanted: KubeObject, live: KubeObject) -> dict[str, Any]:
    spec = dict(wanted["spec"])
    if "replicas" not in spec and "replicas" in live["spec"]:
        spec["replicas"] = live["spec"]["replicas"]
    restarted = (live["spec"]["template"].get("metadata") or {}).get("annotations") or {}
    if RESTARTED_AT in restarted:
        template = spec["template"]
        meta = template.get("metadata") or {}
        annotations = {RESTARTED_AT: restarted[RESTARTED_AT], **(meta.get("annotations") or {})}
        spec["template"] = {**template, "metadata": {**meta, "annotations": annotations}}
    return spec


def _state(live: KubeObject, digest: str) -> Left:
    return str(metadata(live).get("uid")), _generation(live), digest


def _generation(live: KubeObject) -> int:
    return int(metadata(live).get("generation") or 0)


def _hash(deployment: KubeObject) -> str:
    return labels_of(deployment).get(LABEL_DEPLOYMENT_HASH, "")


def _is_owned(deployment: KubeObject, uid: str) -> bool:
    references = metadata(deployment).get("ownerReferences") or ()
    return any(each["uid"] == uid for each in references)
