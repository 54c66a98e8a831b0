"""The controller of the cluster roles for the APIs that operators own.

Requests are ClusterServiceVersions that are no copies. The roles go with what serves the API.
"""

from collections.abc import Iterable
from typing import Any

from api.objects import KubeObject, metadata
from olm_classic.csv.api_roles import (
    api_roles,
    api_service_name,
    owned_api_services,
    owned_definitions,
)
from olm_classic.csv.phases import Phase
from olm_classic.csv.replacement import is_in
from olm_classic.csv.requirements import API_SERVICE, CRD
from olm_classic.io.roles import Roles
from olm_classic.kinds import CLUSTER_SERVICE_VERSION
from olm_classic.names import OPERATOR_FIELD_MANAGER
from olm_classic.selections import API_SERVICES, CLUSTER_ROLES, CRDS
from olm_runtime.controller.handlers import Change, enqueue_mapped, enqueue_object
from olm_runtime.controller.manager import Manager, Registration, Watch
from olm_runtime.controller.requests import Request, namespaced_name, request_of
from olm_runtime.outcome import Done, Failed, Outcome

NAME = "api-roles"
SERVED_BY = "served-by"
"""The index of ClusterServiceVersions by kind and name of what serves the APIs that they own."""


class ApiRoles:
    """Has the cluster roles of what ClusterServiceVersions own."""

    def __init__(self, manager: Manager) -> None:
        self._csvs = manager.store(CLUSTER_SERVICE_VERSION)
        self._definitions = manager.selected(CRDS)
        self._api_services = manager.selected(API_SERVICES)
        cluster_roles = manager.selected(CLUSTER_ROLES)
        self._csvs.add_index(SERVED_BY, _served_by)
        self._roles = Roles(
            manager.client,
            {CLUSTER_ROLES.gvk: cluster_roles},
            field_manager=OPERATOR_FIELD_MANAGER,
        )

    def registration(self) -> Registration:
        """The controller as a manager runs it."""
        return Registration(
            name=NAME,
            reconciler=self,
            watches=[
                Watch(CLUSTER_SERVICE_VERSION, enqueue_object, [_became_active]),
                Watch(CRDS, enqueue_mapped(self._owners), [_is_another]),
                Watch(API_SERVICES, enqueue_mapped(self._owners), [_is_another]),
                Watch(CLUSTER_ROLES, enqueue_mapped(self._owners_of_role)),
            ],
        )

    async def reconcile(self, request: Request) -> Outcome:
        """Has the roles of one that is installed. Raises ApiError."""
        namespace, name = namespaced_name(request)
        csv = self._csvs.get(name, namespace)
        if csv is None or not is_in(csv, Phase.SUCCEEDED):
            return Done()
        self._roles.check_synced()
        definitions = {each["name"] for each in owned_definitions(csv)}
        services = {api_service_name(each) for each in owned_api_services(csv)}
        found = {name: self._definitions.get(name) for name in definitions}
        served = {name: self._api_services.get(name) for name in services}
        for role in api_roles(csv, _present(found), _present(served)):
            await self._roles.ensure(role)
        return Done()

    async def report_failure(self, request: Request, failed: Failed) -> None:
        """There is nothing to say beyond the log: it is installed all the same."""

    def _owners(self, obj: KubeObject) -> list[Request]:
        """Of a definition or an API service."""
        return self._owning(obj["kind"], metadata(obj)["name"])

    def _owners_of_role(self, role: KubeObject) -> list[Request]:
        references = metadata(role).get("ownerReferences") or ()
        kinds = (CRD.kind, API_SERVICE.kind)
        named = [(each["kind"], each["name"]) for each in references if each["kind"] in kinds]
        return [request for kind, name in named for request in self._owning(kind, name)]

    def _owning(self, kind: str, name: str) -> list[Request]:
        return [request_of(csv) for csv in self._csvs.by_index(SERVED_BY, (kind, name))]


def _served_by(csv: KubeObject) -> Iterable[tuple[str, str]]:
    if not is_in(csv, Phase.SUCCEEDED):
        return []
    definitions = [(CRD.kind, str(each["name"])) for each in owned_definitions(csv)]
    services = [(API_SERVICE.kind, api_service_name(each)) for each in owned_api_services(csv)]
    return {*definitions, *services}


def _present(found: dict[str, KubeObject | None]) -> dict[str, KubeObject]:
    return {name: obj for name, obj in found.items() if obj is not None}


def _became_active(event: Change) -> bool:
    """It is installed, and was not, or owned something else."""
    return bool(_active(event.old) != _active(event.new))


def _active(csv: KubeObject | None) -> Any:
    if not is_in(csv, Phase.SUCCEEDED) or csv is None:
        return None
    return owned_definitions(csv), owned_api_services(csv)


def _is_another(event: Change) -> bool:
    """For what serves an API: the roles name its UID."""
    if event.initial:
        return False
    return event.old is None or event.new is None or _uid(event.old) != _uid(event.new)


def _uid(obj: KubeObject) -> Any:
    return metadata(obj).get("uid")
