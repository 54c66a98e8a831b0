"""OLMConfig: how OLM Classic behaves in the whole cluster."""

from typing import Annotated, Any, Self

from msgspec import Struct, field

from api import wire
from api.conditions import Conditions
from api.metadata import ObjectMeta
from api.operators import names
from api.schema import Doc, Key, pattern

SINGLETON = "cluster"
"""The only name of which anything is read."""


class Features(Struct, frozen=True, kw_only=True):
    """What can be switched."""

    disable_copied_csvs: Annotated[
        bool,
        Key("disableCopiedCSVs"),
        Doc("Make no copies of ClusterServiceVersions that are for all namespaces."),
    ] = False
    package_server_sync_interval: Annotated[
        str,
        Doc("Time between two looks of the package server at its catalogs, for example 12h0m0s."),
        pattern(r"^([0-9]+(\.[0-9]+)?(s|m|h))+$"),
    ] = ""


class OLMConfigSpec(Struct, frozen=True, kw_only=True):
    """How OLM Classic behaves."""

    features: Annotated[Features, Doc("What can be switched.")] = field(default_factory=Features)


class OLMConfigStatus(Struct, frozen=True, kw_only=True):
    """How far it behaves so."""

    conditions: Annotated[
        Conditions, Doc("DisabledCopiedCSVs: whether copies are off and none is left.")
    ] = ()


class OLMConfig(Struct, frozen=True, kw_only=True):
    """How OLM Classic behaves in the whole cluster; only the one named cluster is read."""

    metadata: ObjectMeta
    spec: Annotated[OLMConfigSpec, Doc("How OLM Classic behaves.")] = field(
        default_factory=OLMConfigSpec
    )
    status: Annotated[OLMConfigStatus, Doc("How far it behaves so.")] = field(
        default_factory=OLMConfigStatus
    )

    @classmethod
    def from_object(cls, raw: Any) -> Self:
        """The model of an object as the API server holds it. Raises InvalidObjectError."""
        return wire.read_object(cls, raw, api_version=names.V1)
