"""The controller of ClusterExtensions: what should be installed, and as which revision.

Rolling out is the work of the revision's own controller (`controllers.object_set`).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from msgspec.structs import replace

from api import wire
from api.conditions import merge_conditions
from api.objects import KubeObject, name_of
from api.olm.v1 import names
from api.olm.v1.clusterextension import ClusterExtension, ClusterExtensionStatus
from api.olm.v1.kinds import EXTENSION
from api.wire import InvalidObjectError
from olm_runtime.controller.reconciler import Controller, Status
from olm_runtime.controller.status_writer import read_status
from olm_runtime.errors import TerminalError
from olm_runtime.event import Happening
from olm_runtime.outcome import Outcome
from operator_controller.controllers.context import Context
from operator_controller.controllers.extension_deletion import ExtensionDeletion
from operator_controller.controllers.extension_steps import ExtensionSteps
from operator_controller.metrics import Metrics
from operator_controller.status.extension import ExtensionFacts, extension_status
from operator_controller.status.transitions import transitions

FINALIZERS = (
    names.FINALIZER_CLEANUP_UNPACK_CACHE,
    names.FINALIZER_CLEANUP_CONTENT_CACHE,
    names.FINALIZER_TEARDOWN,
)


def extension_controller(
    steps: ExtensionSteps, deletion: ExtensionDeletion, observe: "Observer"
) -> Controller[Context]:
    """The controller that they make."""
    return Controller(
        kind=EXTENSION,
        finalizers=FINALIZERS,
        begin=_begin,
        steps=steps.in_order(),
        conclude=steps.remove_refusing_webhooks,
        status=_status,
        events=_events,
        observe=observe,
        finalize=deletion.finalize,
        gone=deletion.gone,
        attributes=_attributes,
    )


@dataclass(frozen=True, slots=True)
class Observer:
    """Counts statuses in the metrics."""

    metrics: Metrics
    clock: Callable[[], datetime]

    def __call__(self, obj: KubeObject, status: Status, seconds: float | None) -> None:
        """One status, and how long the reconcile took."""
        read, now = read_status(ClusterExtensionStatus, status), self.clock().timestamp()
        self.metrics.observe(name_of(obj), read, now=now, seconds=seconds)


def _begin(obj: KubeObject) -> Context:
    """Raises TerminalError for what the API server took but nobody can act on."""
    try:
        return Context(obj, ClusterExtension.from_object(obj))
    except InvalidObjectError as error:
        raise TerminalError(str(error)) from error


def _attributes(context: Context) -> Mapping[str, str]:
    """What of an extension is known so far."""
    found = {"olm.extension": context.name}
    if context.bundle is not None:
        found["olm.bundle"] = context.bundle.name
        found["olm.version"] = context.bundle.version
    if context.history.latest is not None:
        found["olm.revision"] = context.history.latest.name
    return found


def _status(context: Context, outcome: Outcome, now: datetime) -> Status:
    facts = ExtensionFacts(
        context.extension,
        outcome,
        context.revisions,
        context.deprecations,
        context.notes,
        context.suspension,
    )
    new = extension_status(facts)
    merged = merge_conditions(context.extension.status.conditions, new.conditions, now)
    return wire.write(replace(new, conditions=merged))


def _events(before: KubeObject, now: Status, context: Context | None) -> Iterable[Happening]:
    old, new = (read_status(ClusterExtensionStatus, each) for each in (before.get("status"), now))
    latest = context.history.latest if context is not None else None
    return transitions(old, new, latest.bundle if latest else None)
