"""One manifest of a release against the API server. Source of the rules: upstream's notes, 10.1."""

from dataclasses import dataclass, field

from api.objects import KubeObject, gvk_of, metadata, name_of, namespace_of
from cluster_version.apply.deletions import Deletions
from cluster_version.apply.injections import CONFIGURATION_NAME, asked_for, injected
from cluster_version.apply.requests import Request, Verb, is_deletion, owned, request_for
from cluster_version.payload.task_graph import State
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import AlreadyExistsError, ConflictError

FIELD_MANAGER = "cluster-version-operator"
TRIES = 3

_BOOKKEEPING = ("managedFields", "resourceVersion")


@dataclass(frozen=True, slots=True)
class Applied:
    """What is on the cluster now, None for nothing, and what was done, None for nothing.

    An update that the server's defaults undo, as of a Job that does not name its parallelism,
    changes nothing.
    """

    live: KubeObject | None
    verb: Verb | None


@dataclass(frozen=True, slots=True)
class Applier:
    """Makes objects what the manifests of a release say.

    owner_uid  the UID of the ClusterVersion that they belong to
    """

    client: KubeClient
    owner_uid: str
    deletions: Deletions = field(default_factory=Deletions)

    async def apply(self, manifest: KubeObject, state: State) -> Applied:
        """Reads an object, and writes it if it is not what the manifest says.

        What another client wrote in between is read again. Raises TerminalError for a manifest
        that says what it cannot mean, ApiError for what the server refuses.
        """
        wanted = await self._configured(owned(manifest, self.owner_uid))
        for tries_left in reversed(range(TRIES)):
            try:
                return await self._try(wanted, state)
            except (AlreadyExistsError, ConflictError):
                if not tries_left:
                    raise
        raise AssertionError("the last try returns or raises")

    async def _configured(self, manifest: KubeObject) -> KubeObject:
        """The manifest with what it asks for of the cluster's configuration."""
        kinds = () if is_deletion(manifest) else asked_for(manifest)
        found = {kind: await self.client.find(kind, CONFIGURATION_NAME) for kind in kinds}
        return injected(manifest, found) if found else manifest

    async def _try(self, manifest: KubeObject, state: State) -> Applied:
        live = await self.client.find(gvk_of(manifest), name_of(manifest), namespace_of(manifest))
        request = request_for(manifest, live, state)
        was_asked = self.deletions.is_known(manifest)
        if was_asked:
            self.deletions.seen(manifest, live)
        if request is None:
            return Applied(live, None)
        if request.verb is Verb.DELETE:
            return Applied(live, None) if was_asked else await self._delete(manifest, live)
        written = await self._write(request)
        is_same = live is not None and _content(written) == _content(live)
        return Applied(written, None if is_same else request.verb)

    async def _delete(self, manifest: KubeObject, live: KubeObject | None) -> Applied:
        await self.client.delete(manifest)
        self.deletions.asked(manifest)
        return Applied(live, Verb.DELETE)

    async def _write(self, request: Request) -> KubeObject:
        write = self.client.create if request.verb is Verb.CREATE else self.client.update
        written: KubeObject = await write(request.object, field_manager=FIELD_MANAGER)
        return written


def _content(obj: KubeObject) -> KubeObject:
    meta = {key: value for key, value in metadata(obj).items() if key not in _BOOKKEEPING}
    return {**obj, "metadata": meta}
