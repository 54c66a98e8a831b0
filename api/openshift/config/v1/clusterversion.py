"""ClusterVersion: the release that a cluster has, and the one that it shall have."""

from datetime import datetime
from typing import Annotated, Any, Self

from msgspec import Struct

from api import wire
from api.metadata import ObjectMeta
from api.openshift.config.v1 import names
from api.openshift.config.v1.clusterversion_spec import ClusterVersionSpec
from api.openshift.config.v1.conditions import ClusterConditions
from api.openshift.config.v1.releases import MAX_NAMED_RISKS, ConditionalUpdate, Release, Risk
from api.schema import (
    ATOMIC_LIST,
    INT64,
    NULLABLE,
    Doc,
    Presence,
    list_map,
    max_items,
    max_length,
    min_items,
)

SINGLETON = "version"
"""The only name of which anything is read."""
MAX_HISTORY = 100
MAX_CONDITIONAL_UPDATES = 500
MAX_CAPABILITIES = 256


class UpdateHistory(Struct, frozen=True, kw_only=True):
    """A release that the cluster had, or was on its way to."""

    state: Annotated[str, Doc("Completed if all of the release was applied once, else Partial.")]
    image: Annotated[str, Doc("Release image.")]
    verified: Annotated[bool, Doc("Whether the image had a good signature when it was accepted.")]
    started_time: Annotated[
        datetime | None, Doc("When the release was accepted."), Presence.REQUIRED
    ] = None
    completion_time: Annotated[
        datetime | None,
        Doc("When the release was reached or left; null while it is worked towards."),
        NULLABLE,
        Presence.REQUIRED,
    ] = None
    version: Annotated[str, Doc("Version of the release.")] = ""
    accepted_risks: Annotated[
        str, Doc("What spoke against the update when it was accepted all the same.")
    ] = ""


_CapabilityName = Annotated[str, max_length(256)]


class CapabilitiesStatus(Struct, frozen=True, kw_only=True):
    """Which optional parts there are."""

    enabled_capabilities: Annotated[
        tuple[_CapabilityName, ...],
        Doc("Parts that the cluster has."),
        ATOMIC_LIST,
        max_items(MAX_CAPABILITIES),
    ] = ()
    known_capabilities: Annotated[
        tuple[_CapabilityName, ...],
        Doc("Parts that the cluster can have."),
        ATOMIC_LIST,
        max_items(MAX_CAPABILITIES),
    ] = ()


class ClusterVersionStatus(Struct, frozen=True, kw_only=True):
    """The release that the cluster has, and where it can go."""

    desired: Annotated[Release, Doc("The release that was accepted and is applied.")]
    observed_generation: Annotated[int, Doc("The metadata.generation that is worked on."), INT64]
    version_hash: Annotated[str, Doc("Sum over the manifests of the release.")]
    available_updates: Annotated[
        tuple[Release, ...],
        Doc("Updates that are recommended, the newest first; null when there are none."),
        ATOMIC_LIST,
        NULLABLE,
        Presence.REQUIRED,
    ] = ()
    history: Annotated[
        tuple[UpdateHistory, ...],
        Doc("Releases that the cluster had, the newest first."),
        ATOMIC_LIST,
        max_items(MAX_HISTORY),
    ] = ()
    capabilities: Annotated[CapabilitiesStatus | None, Doc("Which optional parts there are.")] = (
        None
    )
    conditions: Annotated[
        ClusterConditions,
        Doc(
            """
            Available: whether all of a release was applied once.

            Progressing: whether something of the release is still to be applied.

            Failing: whether something of the release cannot be applied.

            Upgradeable: False while something speaks against the next minor version.

            ReleaseAccepted: whether the release that is wished was verified and loaded.

            RetrievedUpdates: whether the update service could be asked.
            """
        ),
    ] = ()
    conditional_updates: Annotated[
        tuple[ConditionalUpdate, ...],
        Doc("Updates with known issues, the newest first."),
        ATOMIC_LIST,
        max_items(MAX_CONDITIONAL_UPDATES),
    ] = ()
    conditional_update_risks: Annotated[
        tuple[Risk, ...],
        Doc("Known issues of all conditional updates, and whether they apply to this cluster."),
        list_map("name"),
        min_items(1),
        max_items(MAX_NAMED_RISKS),
    ] = ()


class ClusterVersion(Struct, frozen=True, kw_only=True):
    """The release of a cluster; only the one named version is read.

    A release that is wished in spec.desiredUpdate is looked up, verified, and applied.
    """

    metadata: ObjectMeta
    spec: Annotated[ClusterVersionSpec, Doc("What is wished of the cluster.")]
    status: Annotated[ClusterVersionStatus | None, Doc("The release that the cluster has.")] = None

    @classmethod
    def from_object(cls, raw: Any) -> Self:
        """The model of an object as the API server holds it. Raises InvalidObjectError."""
        return wire.read_object(cls, raw, api_version=names.API_VERSION)
