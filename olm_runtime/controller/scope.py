"""Controllers that have some namespaces only."""

from dataclasses import dataclass, replace

from olm_runtime.controller.manager import Registration
from olm_runtime.controller.reconciler import Reconciler
from olm_runtime.controller.requests import Request, namespaced_name
from olm_runtime.outcome import Done, Failed, Outcome


@dataclass(frozen=True, slots=True)
class Scope:
    """Some namespaces; none named means all. What has no namespace is always inside."""

    namespaces: frozenset[str]

    def has(self, namespace: str) -> bool:
        """Whether a namespace is inside."""
        return not (self.namespaces and namespace) or namespace in self.namespaces

    def within(self, registration: Registration) -> Registration:
        """The same controller, which leaves requests of other namespaces alone."""
        if not self.namespaces:
            return registration
        return replace(registration, reconciler=_Scoped(registration.reconciler, self))


@dataclass(frozen=True, slots=True)
class _Scoped:
    reconciler: Reconciler
    scope: Scope

    async def reconcile(self, request: Request) -> Outcome:
        """As the controller does, if that is its business."""
        if not self.scope.has(namespaced_name(request)[0]):
            return Done()
        return await self.reconciler.reconcile(request)

    async def report_failure(self, request: Request, failed: Failed) -> None:
        """As the controller does."""
        await self.reconciler.report_failure(request, failed)
