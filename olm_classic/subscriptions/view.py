"""What a namespace has, as its loop looks at it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from msgspec import structs

from api.objects import KubeObject, labels_of, name_of
from api.operators.v1alpha1.catalogsource import CatalogSource
from api.operators.v1alpha1.installplan import InstallPlan
from api.operators.v1alpha1.subscription import Subscription, SubscriptionStatus
from olm_classic.names import LABEL_COPIED_FROM
from olm_classic.operator_groups.strategy import fails_forward
from olm_classic.resolve.readers import Deprecations


@dataclass(frozen=True, slots=True)
class Csv:
    """What the loop reads of a ClusterServiceVersion."""

    name: str
    phase: str = ""
    replaces: str = ""

    @classmethod
    def from_object(cls, raw: KubeObject) -> "Csv":
        """That of an object."""
        spec, status = raw.get("spec") or {}, raw.get("status") or {}
        return cls(
            name_of(raw),
            str(status.get("phase") or ""),
            str(spec.get("replaces") or ""),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A namespace at a moment.

    subscriptions  those that are not being deleted, by name
    plans          all InstallPlans
    csvs           by name, without copies
    groups         the OperatorGroups as the API server holds them
    catalogs       those of the namespace and of the global one
    deprecations   what is deprecated of a Subscription's package, by the Subscription's name; none
                   where its catalog cannot be asked
    """

    namespace: str
    now: datetime
    subscriptions: tuple[Subscription, ...] = ()
    plans: tuple[InstallPlan, ...] = ()
    csvs: Mapping[str, Csv] = field(default_factory=dict)
    groups: tuple[KubeObject, ...] = ()
    catalogs: tuple[CatalogSource, ...] = ()
    deprecations: Mapping[str, Deprecations] = field(default_factory=dict)

    @property
    def fails_forward(self) -> bool:
        """Whether an upgrade may start from what failed."""
        return fails_forward(self.groups)

    def plan_of(self, status: SubscriptionStatus) -> InstallPlan | None:
        """The plan that a status refers to, if it is there."""
        reference = status.install_plan_ref
        if reference is None:
            return None
        return next((p for p in self.plans if p.metadata.name == reference.name), None)

    def with_statuses(self, statuses: Mapping[str, SubscriptionStatus]) -> "View":
        """The same with other statuses of the Subscriptions of these names."""
        return replace(
            self,
            subscriptions=tuple(
                structs.replace(each, status=statuses.get(each.metadata.name, each.status))
                for each in self.subscriptions
            ),
        )


def own_csvs(objects: Iterable[KubeObject]) -> dict[str, Csv]:
    """The ClusterServiceVersions that are no copies, by name."""
    own = (Csv.from_object(each) for each in objects if LABEL_COPIED_FROM not in labels_of(each))
    return {each.name: each for each in own}
