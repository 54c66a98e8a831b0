"""Subscription: the wish for a package, kept up to date from a channel of a catalog."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Self

from msgspec import Struct, field

from api import wire
from api.metadata import ObjectMeta
from api.operators import names
from api.operators.common import Reference
from api.schema import INT64, Doc, Embedded, Key, Presence

MANUAL = "Manual"
"""The one value of installPlanApproval that has plans wait for approval."""


class SubscriptionConfig(Struct, frozen=True, kw_only=True):
    """What is changed about the Deployments of an operator."""

    selector: Annotated[
        Mapping[str, Any] | None, Doc("Taken, but without effect."), Embedded("LabelSelector")
    ] = None
    node_selector: Annotated[
        Mapping[str, str] | None, Doc("Labels of the nodes that pods may run on.")
    ] = None
    tolerations: Annotated[
        tuple[Annotated[Mapping[str, Any], Embedded("Toleration")], ...],
        Doc("Taints of nodes that pods tolerate."),
    ] = ()
    resources: Annotated[
        Mapping[str, Any] | None,
        Doc("What every container needs and may use."),
        Embedded("ResourceRequirements"),
    ] = None
    env_from: Annotated[
        tuple[Annotated[Mapping[str, Any], Embedded("EnvFromSource")], ...],
        Doc("Where environment variables of every container come from."),
    ] = ()
    env: Annotated[
        tuple[Annotated[Mapping[str, Any], Embedded("EnvVar")], ...],
        Doc("Environment variables of every container."),
    ] = ()
    volumes: Annotated[
        tuple[Annotated[Mapping[str, Any], Embedded("Volume")], ...], Doc("Volumes of the pods.")
    ] = ()
    volume_mounts: Annotated[
        tuple[Annotated[Mapping[str, Any], Embedded("VolumeMount")], ...],
        Doc("Where every container mounts volumes."),
    ] = ()
    affinity: Annotated[
        Mapping[str, Any] | None,
        Doc("Rules for the choice of nodes. An empty part removes what the bundle says of it."),
        Embedded("Affinity"),
    ] = None
    annotations: Annotated[
        Mapping[str, str], Doc("Annotations of Deployments and pods where the bundle has none.")
    ] = field(default_factory=dict)


class SubscriptionSpec(Struct, frozen=True, kw_only=True):
    """Which package is wanted, and from where."""

    source: Annotated[str, Doc("Name of the CatalogSource.")]
    source_namespace: Annotated[str, Doc("Namespace of the CatalogSource.")]
    name: Annotated[str, Doc("Name of the package.")]
    channel: Annotated[
        str, Doc("Channel that is followed; the default channel of the package without it.")
    ] = ""
    starting_csv: Annotated[
        str,
        Key("startingCSV"),
        Doc("The ClusterServiceVersion to begin with, instead of the head of the channel."),
    ] = ""
    install_plan_approval: Annotated[
        str, Doc("Manual has install plans wait for approval. Anything else approves them.")
    ] = ""
    config: Annotated[
        SubscriptionConfig | None, Doc("What is changed about the Deployments of the operator.")
    ] = None

    @property
    def is_manual(self) -> bool:
        """Whether install plans wait for approval."""
        return self.install_plan_approval == MANUAL


class CatalogHealth(Struct, frozen=True, kw_only=True):
    """Whether a catalog can take part in resolution."""

    catalog_source_ref: Annotated[Reference, Doc("The CatalogSource.")]
    healthy: Annotated[bool, Doc("Whether it is well.")]
    last_updated: Annotated[datetime, Doc("When this was last found.")]


class InstallPlanReference(Struct, frozen=True, kw_only=True):
    """The install plan, in the older form."""

    api_version: Annotated[str, Doc("Group and version of the install plan.")]
    kind: Annotated[str, Doc("InstallPlan.")]
    name: Annotated[str, Doc("Name of the install plan.")]
    uuid: Annotated[str, Doc("UID of the install plan.")]


class SubscriptionCondition(Struct, frozen=True, kw_only=True):
    """One aspect of the state of a Subscription."""

    type: Annotated[str, Doc("What the condition is about.")]
    status: Annotated[str, Doc("True, False or Unknown.")]
    reason: Annotated[str, Doc("One word for why, made for programs to compare.")] = ""
    message: Annotated[str, Doc("What happened, made for people to read.")] = ""
    last_heartbeat_time: Annotated[datetime | None, Doc("Not used.")] = None
    last_transition_time: Annotated[datetime | None, Doc("When the status last changed.")] = None


class SubscriptionStatus(Struct, frozen=True, kw_only=True):
    """How far the wish is fulfilled."""

    last_updated: Annotated[
        datetime | None, Doc("When the status was last written."), Presence.REQUIRED
    ] = None
    state: Annotated[
        str, Doc("AtLatestKnown, UpgradePending, UpgradeFailed, or empty at the beginning.")
    ] = ""
    reason: Annotated[str, Doc("One word for why the state is what it is.")] = ""
    current_csv: Annotated[
        str, Key("currentCSV"), Doc("The ClusterServiceVersion that is, or is to be, installed.")
    ] = ""
    installed_csv: Annotated[
        str, Key("installedCSV"), Doc("The ClusterServiceVersion that is there.")
    ] = ""
    install_plan_ref: Annotated[
        Reference | None, Doc("The install plan that leads to currentCSV.")
    ] = None
    install_plan_generation: Annotated[
        int | None, Doc("The generation of that install plan."), INT64
    ] = None
    installplan: Annotated[
        InstallPlanReference | None, Doc("The install plan, in the older form.")
    ] = None
    catalog_health: Annotated[
        tuple[CatalogHealth, ...], Doc("The catalogs that take part in resolution.")
    ] = ()
    conditions: Annotated[
        tuple[SubscriptionCondition, ...],
        Doc("CatalogSourcesUnhealthy, ResolutionFailed, what plans come to, deprecations."),
    ] = ()


class Subscription(Struct, frozen=True, kw_only=True):
    """Keeps an operator up to date by following a channel of a package."""

    metadata: ObjectMeta
    spec: Annotated[SubscriptionSpec, Doc("Which package is wanted, and from where.")]
    status: Annotated[SubscriptionStatus, Doc("How far the wish is fulfilled.")] = field(
        default_factory=SubscriptionStatus
    )

    @classmethod
    def from_object(cls, raw: Any) -> Self:
        """The model of an object as the API server holds it. Raises InvalidObjectError."""
        return wire.read_object(cls, raw, api_version=names.V1ALPHA1)
