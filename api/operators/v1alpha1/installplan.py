"""InstallPlan: what is written to the cluster so that ClusterServiceVersions are there."""

from datetime import datetime
from typing import Annotated, Any, Self

from msgspec import Struct, field

from api import wire
from api.metadata import ObjectMeta
from api.operators import names
from api.operators.common import ComponentCondition, Reference
from api.schema import Doc, Presence


class InstallPlanSpec(Struct, frozen=True, kw_only=True):
    """Which ClusterServiceVersions the plan is for, and whether it may go on."""

    approval: Annotated[str, Doc("Automatic, or Manual: a plan that waits for approved.")]
    approved: Annotated[bool, Doc("Whether the plan may be carried out.")]
    cluster_service_version_names: Annotated[
        tuple[str, ...], Doc("The ClusterServiceVersions that the plan is for.")
    ]
    generation: Annotated[int, Doc("Counts the plans of the namespace.")] = 0
    source: Annotated[str, Doc("Name of a CatalogSource.")] = ""
    source_namespace: Annotated[str, Doc("Namespace of the CatalogSource.")] = ""


class StepResource(Struct, frozen=True, kw_only=True):
    """An object of a plan."""

    group: Annotated[str, Doc("Group of the object; empty for the core group.")]
    version: Annotated[str, Doc("Version of the object.")]
    kind: Annotated[str, Doc("Kind of the object.")]
    name: Annotated[str, Doc("Name of the object.")]
    source_name: Annotated[str, Doc("Name of the CatalogSource that it comes from.")]
    source_namespace: Annotated[str, Doc("Namespace of that CatalogSource.")]
    manifest: Annotated[
        str, Doc("The object as JSON, or a reference to the ConfigMap that holds it.")
    ] = ""


class Step(Struct, frozen=True, kw_only=True):
    """One object to write."""

    resolving: Annotated[str, Doc("The ClusterServiceVersion that needs the object.")]
    resource: Annotated[StepResource, Doc("The object.")]
    status: Annotated[
        str, Doc("Unknown, NotPresent, WaitingForApi, Present, Created or UnsupportedResource.")
    ]
    optional: Annotated[bool, Doc("Whether the plan can do without the object.")] = False


class BundleLookup(Struct, frozen=True, kw_only=True):
    """A bundle that was, or is being, unpacked for the plan."""

    path: Annotated[str, Doc("Image of the bundle.")]
    identifier: Annotated[str, Doc("Name of its ClusterServiceVersion.")]
    replaces: Annotated[str, Doc("What it replaces.")]
    catalog_source_ref: Annotated[Reference, Doc("The CatalogSource that it comes from.")]
    properties: Annotated[str, Doc("Its properties, as JSON.")] = ""
    conditions: Annotated[tuple[ComponentCondition, ...], Doc("How far it is unpacked.")] = ()


class InstallPlanStatus(Struct, frozen=True, kw_only=True):
    """How far the plan is carried out."""

    phase: Annotated[
        str,
        Doc("Empty, Planning, RequiresApproval, Installing, Complete or Failed."),
        Presence.REQUIRED,
    ] = ""
    catalog_sources: Annotated[
        tuple[str, ...], Doc("The CatalogSources that the plan draws from."), Presence.REQUIRED
    ] = ()
    plan: Annotated[tuple[Step, ...], Doc("The objects, in the order of writing.")] = ()
    bundle_lookups: Annotated[
        tuple[BundleLookup, ...], Doc("The bundles that the plan is made of.")
    ] = ()
    conditions: Annotated[
        tuple[ComponentCondition, ...], Doc("Installed: whether all was written, or why not.")
    ] = ()
    attenuated_service_account_ref: Annotated[
        Reference | None, Doc("The ServiceAccount with whose rights objects are written.")
    ] = None
    start_time: Annotated[datetime | None, Doc("When the plan was first tried.")] = None
    message: Annotated[str, Doc("Why the plan does not go on.")] = ""


class InstallPlan(Struct, frozen=True, kw_only=True):
    """The objects that installing or upgrading ClusterServiceVersions takes."""

    metadata: ObjectMeta
    spec: Annotated[
        InstallPlanSpec, Doc("What the plan is for, and whether it may be carried out.")
    ]
    status: Annotated[InstallPlanStatus, Doc("How far the plan is carried out.")] = field(
        default_factory=InstallPlanStatus
    )

    @property
    def is_of_subscriptions(self) -> bool:
        """Whether it was made for Subscriptions, and not by a user."""
        return any(each.kind == "Subscription" for each in self.metadata.owner_references)

    @classmethod
    def from_object(cls, raw: Any) -> Self:
        """The model of an object as the API server holds it. Raises InvalidObjectError."""
        return wire.read_object(cls, raw, api_version=names.V1ALPHA1)
