"""The controller of the labels by which namespaces say what OperatorGroups select them.

Requests are names of namespaces. A label is taken away where there is no group of its UID, however
that went: so groups need no finalizer.
"""

from collections.abc import Iterable

from api.objects import KubeObject, is_deleting, labels_of, metadata
from olm_classic.kinds import OPERATOR_GROUP
from olm_classic.names import ALL_NAMESPACES, OPERATOR_FIELD_MANAGER
from olm_classic.operator_groups.selection import label_changes
from olm_classic.selections import NAMESPACES
from olm_runtime.controller.handlers import Change, Enqueue, enqueue_object
from olm_runtime.controller.manager import Manager, Registration, Watch
from olm_runtime.controller.requests import Request
from olm_runtime.kube.errors import NotFoundError
from olm_runtime.outcome import Done, Failed, Outcome

NAME = "namespace-labels"
SELECTED = "selected-namespaces"
"""The index of groups by the namespaces of their status."""


class NamespaceLabels:
    """Reconciles the labels of namespaces with the statuses of OperatorGroups."""

    def __init__(self, manager: Manager) -> None:
        self._manager = manager
        self._groups = manager.store(OPERATOR_GROUP)
        self._namespaces = manager.selected(NAMESPACES)
        self._groups.add_index(SELECTED, _selected)

    def registration(self) -> Registration:
        """The controller as a manager runs it."""
        return Registration(
            name=NAME,
            reconciler=self,
            watches=[
                Watch(NAMESPACES, enqueue_object, [_labels_changed]),
                Watch(OPERATOR_GROUP, _enqueue_namespaces),
            ],
        )

    async def reconcile(self, request: Request) -> Outcome:
        """Labels one namespace. Raises ApiError."""
        self._groups.check_synced()
        namespace = self._namespaces.get(request)
        if namespace is None or is_deleting(namespace):
            return Done()
        groups = self._groups.by_index(SELECTED, request)
        changes = label_changes(namespace, [str(metadata(each)["uid"]) for each in groups])
        if changes:
            patch = {"metadata": {"labels": changes}}
            try:
                await self._manager.client.patch(
                    namespace, patch, field_manager=OPERATOR_FIELD_MANAGER, metadata_only=True
                )
            except NotFoundError:
                return Done()
        return Done()

    async def report_failure(self, request: Request, failed: Failed) -> None:
        """A namespace has nowhere to say it."""


def _selected(group: KubeObject) -> list[str]:
    """Where a group is told by labels: not if that is everywhere."""
    namespaces: Iterable[str] = (group.get("status") or {}).get("namespaces") or ()
    return [each for each in namespaces if each != ALL_NAMESPACES]


def _enqueue_namespaces(event: Change, enqueue: Enqueue) -> None:
    """Those that a group did not select before, or does not any more."""
    before, now = (set(_selected(each)) if each else set() for each in (event.old, event.new))
    replaced = event.old and event.new and _uid(event.old) != _uid(event.new)
    for name in sorted(before | now if replaced else before ^ now):
        enqueue(name)


def _uid(obj: KubeObject) -> object:
    return metadata(obj).get("uid")


def _labels_changed(event: Change) -> bool:
    return event.old is None or event.new is None or labels_of(event.old) != labels_of(event.new)
