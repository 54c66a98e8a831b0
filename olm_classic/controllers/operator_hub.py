"""Keeps the default catalogs as OperatorHub `cluster` wants them."""

from collections.abc import Iterable, Sequence

from api import wire
from api.objects import KubeObject, gvk_of, name_of, namespace_of
from api.openshift.config.v1.kinds import OPERATOR_HUB
from api.openshift.config.v1.operatorhub import SINGLETON, OperatorHub, OperatorHubSpec
from olm_classic.kinds import CATALOG_SOURCE
from olm_classic.names import FIELD_MANAGER
from olm_classic.operator_hub import (
    Wish,
    default_catalog,
    is_default,
    operator_hub,
    patch_to,
    status_of,
    wishes,
)
from olm_runtime.controller.handlers import Change, enqueue_mapped
from olm_runtime.controller.manager import Manager, Registration, Watch
from olm_runtime.controller.requests import Request
from olm_runtime.errors import OLMError, TerminalError
from olm_runtime.kube.errors import AlreadyExistsError
from olm_runtime.outcome import Done, Failed, Outcome, Retry

NAME = "operatorhub"


class OperatorHubController:
    """The one request is OperatorHub's name, whether it exists or not."""

    def __init__(
        self, manager: Manager, manifests: Iterable[KubeObject], *, namespace: str
    ) -> None:
        """`namespace` is that of the global catalogs."""
        self._manager = manager
        self._client = manager.client
        self._hubs = manager.store(OPERATOR_HUB)
        self._catalogs = manager.store(CATALOG_SOURCE)
        self._defaults: Sequence[KubeObject] = [
            default_catalog(manifest, namespace) for manifest in manifests
        ]
        self._namespace = namespace
        self._names = {name_of(catalog) for catalog in self._defaults}

    def registration(self) -> Registration:
        """The row of this controller."""
        return Registration(
            name=NAME,
            reconciler=self,
            watches=[
                Watch(OPERATOR_HUB, self._manager.enqueue_changed, predicates=[_is_singleton]),
                Watch(CATALOG_SOURCE, enqueue_mapped(self._requests_of)),
            ],
            at_start=[SINGLETON],
            resync=self._resync,
            workers=1,
        )

    async def _resync(self) -> Iterable[Request]:
        return [SINGLETON]

    def _requests_of(self, catalog: KubeObject) -> list[Request]:
        """Of what is no default this looks at nothing."""
        ours = namespace_of(catalog) == self._namespace and name_of(catalog) in self._names
        return [SINGLETON] if ours else []

    async def reconcile(self, _: Request) -> Outcome:
        """Brings every default to what is wished of it. Raises OLMError where OperatorHub is none.

        A cluster without OperatorHub gets one, for its users to say what they wish. The fault of
        one default does not concern the others.
        """
        self._hubs.check_synced()
        self._catalogs.check_synced()
        problems: dict[str, str] = {}
        hub = self._hubs.get(SINGLETON)
        if hub is None:
            try:
                hub = await self._create(operator_hub())
            except OLMError as error:
                problems[f"OperatorHub {SINGLETON}"] = error.message
        spec = _spec_of(hub)
        wished = wishes(spec, self._defaults)
        for wish in wished:
            try:
                await self._bring(wish)
            except OLMError as error:
                problems[name_of(wish.catalog)] = error.message
        if hub is not None:
            status = wire.write(status_of(spec, wished, problems))
            await self._manager.statuses.write(hub, {**(hub.get("status") or {}), **status})
        if problems:
            return Retry("; ".join(f"{name}: {text}" for name, text in sorted(problems.items())))
        return Done()

    async def report_failure(self, request: Request, failed: Failed) -> None:
        """There is nowhere to say it but the log: the status is about catalogs."""

    async def _bring(self, wish: Wish) -> None:
        found = self._catalogs.get(name_of(wish.catalog), self._namespace)
        if wish.disabled:
            if found is not None and is_default(found):
                await self._client.delete(found, uid=found["metadata"]["uid"])
        elif found is None:
            self._catalogs.update(await self._create(wish.catalog))
        elif patch := patch_to(wish.catalog, found):
            self._catalogs.update(await self._client.patch(found, patch))

    async def _create(self, obj: KubeObject) -> KubeObject:
        """What was missing; as it is, which enqueues it, if the store was late."""
        try:
            made: KubeObject = await self._client.create(obj, field_manager=FIELD_MANAGER)
        except AlreadyExistsError:
            made = await self._client.get(gvk_of(obj), name_of(obj), namespace_of(obj))
        return made


def _is_singleton(event: Change) -> bool:
    return event.key[1] == SINGLETON


def _spec_of(hub: KubeObject | None) -> OperatorHubSpec:
    """Without an OperatorHub every default is there. Raises TerminalError for one that is none."""
    if hub is None:
        return OperatorHubSpec()
    try:
        return OperatorHub.from_object({**hub, "spec": hub.get("spec") or {}}).spec
    except wire.InvalidObjectError as error:
        raise TerminalError(f"OperatorHub {SINGLETON}: {error}") from error
