"""OperatorHub: which of the default catalogs a cluster has."""

from typing import Annotated, Any, Self

from msgspec import Struct, field

from api import wire
from api.metadata import ObjectMeta
from api.openshift.config.v1 import names
from api.schema import Doc, max_length, min_length

SINGLETON = "cluster"
"""The only name of which anything is read."""


class HubSource(Struct, frozen=True, kw_only=True):
    """What is wished of a default catalog."""

    name: Annotated[str, Doc("Name of the CatalogSource."), min_length(1), max_length(253)]
    disabled: Annotated[
        bool | None,
        Doc("Whether it is left out; counts before disableAllDefaultSources."),
    ] = None


class HubSourceStatus(HubSource, frozen=True, kw_only=True):
    """What came of a wish."""

    status: Annotated[str, Doc("Success or Error.")] = ""
    message: Annotated[str, Doc("What went wrong.")] = ""


class OperatorHubSpec(Struct, frozen=True, kw_only=True):
    """Which of the default catalogs there are."""

    disable_all_default_sources: Annotated[
        bool, Doc("Leave out every default catalog that sources does not name.")
    ] = False
    sources: Annotated[tuple[HubSource, ...], Doc("Default catalogs one by one.")] = ()


class OperatorHubStatus(Struct, frozen=True, kw_only=True):
    """What came of it."""

    sources: Annotated[tuple[HubSourceStatus, ...], Doc("Every default catalog.")] = ()


class OperatorHub(Struct, frozen=True, kw_only=True):
    """Which of the default catalogs the cluster has; only the one named cluster is read."""

    metadata: ObjectMeta
    spec: Annotated[OperatorHubSpec, Doc("Which of the default catalogs there are.")]
    status: Annotated[OperatorHubStatus, Doc("What came of it.")] = field(
        default_factory=OperatorHubStatus
    )

    @classmethod
    def from_object(cls, raw: Any) -> Self:
        """The model of an object as the API server holds it. Raises InvalidObjectError."""
        return wire.read_object(cls, raw, api_version=names.API_VERSION)
