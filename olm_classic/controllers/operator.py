"""Keeps Operators: each shows the components of one operator."""

import logging
from collections.abc import Iterable
from functools import partial

from api.objects import GVK, KubeObject, is_deleting, name_of, namespace_of
from olm_classic.components import operator_name
from olm_classic.controllers.component_stores import (
    COMPONENTS,
    ComponentStores,
    kind_of,
    shown_differently,
)
from olm_classic.controllers.operator_adoption import CsvComponents, SubscriptionComponents
from olm_classic.kinds import CLUSTER_SERVICE_VERSION, OPERATOR, SUBSCRIPTION
from olm_classic.names import OPERATOR_FIELD_MANAGER
from olm_classic.operator_components import (
    status_of,
    suffix_of_operator,
    suffix_of_subscription,
)
from olm_runtime.controller.handlers import Change, Enqueue
from olm_runtime.controller.manager import Manager, Registration, Watch
from olm_runtime.controller.requests import Request
from olm_runtime.kube.errors import AlreadyExistsError, InvalidError
from olm_runtime.lanes import Priority
from olm_runtime.outcome import Done, Failed, Outcome

log = logging.getLogger(__name__)

NAME = "operators"
SETTLE_SECONDS = 0.5
"""After which changes of components are shown in one write: an install brings one after another."""
SUFFIX = "suffix"
"""The index of Operators, and of Subscriptions, by the suffix of the labels of components."""


class OperatorController:
    """Requests are suffixes of labels: the names of Operators, cut where they are too long."""

    def __init__(self, manager: Manager, stores: ComponentStores) -> None:
        self._manager = manager
        self._stores = stores
        self._operators = manager.store(OPERATOR)
        self._operators.add_index(SUFFIX, _suffixes)
        self._subscriptions = stores.stores[SUBSCRIPTION]
        self._subscriptions.add_index(SUFFIX, lambda obj: [suffix_of_subscription(obj)])

    def registration(self) -> Registration:
        """The row of this controller."""
        return Registration(
            name=NAME,
            reconciler=self,
            watches=[
                Watch(OPERATOR, self._on_operator),
                *(Watch(each, partial(on_component, kind_of(each))) for each in COMPONENTS),
            ],
            resync=self._resync,
        )

    def _on_operator(self, event: Change, enqueue: Enqueue) -> None:
        def enqueue_suffix(
            request: Request, /, *, priority: Priority = Priority.NORMAL, after: float = 0.0
        ) -> None:
            enqueue(suffix_of_operator(request), priority=priority, after=after)

        self._manager.enqueue_changed(event, enqueue_suffix)

    async def _resync(self) -> Iterable[Request]:
        return self._stores.suffixes().union(*(_suffixes(o) for o in self._operators.objects()))

    async def reconcile(self, request: Request) -> Outcome:
        """Makes an Operator where there are components, and has it show them. Raises ApiError."""
        self._operators.check_synced()
        self._stores.check_synced()
        references = self._stores.references(request)
        status = status_of(request, references)
        for name in sorted(self._names(request, existing=bool(references))):
            operator = self._operators.get(name) or await self._create(name)
            if operator is not None and not is_deleting(operator):
                await self._manager.statuses.write(operator, status)
        return Done()

    def _names(self, suffix: str, *, existing: bool) -> set[str]:
        """Of the Operators that show the components: those that there are, and are to be."""
        names = {name_of(each) for each in self._operators.by_index(SUFFIX, suffix)}
        for each in self._subscriptions.by_index(SUFFIX, suffix):
            names.add(operator_name(each["spec"]["name"], namespace_of(each)))
        return names or ({suffix} if existing else set())

    async def _create(self, name: str) -> KubeObject | None:
        """None if there is one meanwhile, which its watch reports, or cannot be one of the name."""
        wanted = {
            "apiVersion": OPERATOR.api_version,
            "kind": OPERATOR.kind,
            "metadata": {"name": name},
        }
        client = self._manager.client
        try:
            made: KubeObject = await client.create(wanted, field_manager=OPERATOR_FIELD_MANAGER)
        except AlreadyExistsError:
            return None
        except InvalidError as error:
            log.info("no Operator for components labelled %s: %s", name, error.message)
            return None
        self._operators.update(made)
        return made

    async def report_failure(self, request: Request, failed: Failed) -> None:
        """It is in the log."""


def operator_controllers(manager: Manager) -> list[Registration]:
    """The rows of all that has to do with Operators."""
    stores = ComponentStores.of(manager)
    return [
        SubscriptionComponents(manager, stores).registration(),
        CsvComponents(manager, stores).registration(),
        OperatorController(manager, stores).registration(),
    ]


def on_component(kind: GVK, event: Change, enqueue: Enqueue) -> None:
    """Enqueues the operators that show a component, now or once its neighbours have come."""
    # Clients look up the ClusterServiceVersion that is shown, and fail where there is none.
    is_gone = kind == CLUSTER_SERVICE_VERSION and event.new is None
    for suffix in shown_differently(kind, event):
        enqueue(suffix, after=0.0 if is_gone else SETTLE_SECONDS)


def _suffixes(operator: KubeObject) -> list[str]:
    return [suffix_of_operator(name_of(operator))]
