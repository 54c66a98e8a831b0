"""CatalogSource: packages that Subscriptions of a namespace, or of all, are resolved from."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Self

from msgspec import Struct, field

from api import wire
from api.conditions import Conditions
from api.metadata import ObjectMeta
from api.operators import names
from api.operators.common import Icon
from api.schema import Doc, Embedded


class SecurityConfig(StrEnum):
    """How the pod of a catalog is confined."""

    LEGACY = "legacy"
    RESTRICTED = "restricted"


class ExtractContent(Struct, frozen=True, kw_only=True):
    """Where an image without a server holds its catalog."""

    catalog_dir: Annotated[str, Doc("Folder of the image with the file-based catalog.")]
    cache_dir: Annotated[
        str, Doc("Folder of the image with the cache of opm; made at the start without it.")
    ] = ""


class GrpcPodConfig(Struct, frozen=True, kw_only=True):
    """What is changed about the pod of a catalog image."""

    node_selector: Annotated[
        Mapping[str, str], Doc("Labels of the nodes that the pod may run on.")
    ] = field(default_factory=dict)
    tolerations: Annotated[
        tuple[Annotated[Mapping[str, Any], Embedded("Toleration")], ...],
        Doc("Taints of nodes that the pod tolerates."),
    ] = ()
    affinity: Annotated[
        Mapping[str, Any] | None, Doc("Rules for the choice of the node."), Embedded("Affinity")
    ] = None
    priority_class_name: Annotated[
        str | None, Doc("Priority class of the pod; an empty name asks for the cluster's default.")
    ] = None
    security_context_config: Annotated[
        SecurityConfig | None,
        Doc(
            "restricted: the pod meets the pod security standard of that name. legacy: it has no"
            " security context. Without it the namespace's enforced standard decides."
        ),
    ] = None
    memory_target: Annotated[
        int | str | None,
        Doc("Memory that the pod requests, and that the server keeps to."),
        Embedded("quantity"),
    ] = None
    extract_content: Annotated[
        ExtractContent | None,
        Doc("Take the catalog out of the image, and serve it with the cluster's opm."),
    ] = None


class RegistryPoll(Struct, frozen=True, kw_only=True):
    """Looks at the registry for new content of the tag."""

    interval: Annotated[str, Doc("Time between two looks, for example 30m0s.")] = ""


class UpdateStrategy(Struct, frozen=True, kw_only=True):
    """How new content comes in."""

    registry_poll: Annotated[
        RegistryPoll | None, Doc("Look at the registry for new content of the tag.")
    ] = None


class CatalogSourceSpec(Struct, frozen=True, kw_only=True):
    """Where the catalog comes from, and how it ranks."""

    source_type: Annotated[
        str, Doc("grpc: an image or an address. configmap or internal: a ConfigMap.")
    ]
    priority: Annotated[
        int, Doc("Rank among catalogs in dependency resolution: the highest is preferred.")
    ] = 0
    config_map: Annotated[str, Doc("Name of the ConfigMap with the catalog.")] = ""
    address: Annotated[
        str, Doc("host:port of a server of the registry API. Ignored where there is an image.")
    ] = ""
    image: Annotated[str, Doc("Image with the catalog, which is run as a pod.")] = ""
    grpc_pod_config: Annotated[
        GrpcPodConfig | None, Doc("What is changed about the pod of the image.")
    ] = None
    run_as_root: Annotated[bool, Doc("Not used.")] = False
    update_strategy: Annotated[UpdateStrategy | None, Doc("How new content comes in.")] = None
    secrets: Annotated[
        tuple[str, ...], Doc("Secrets of the namespace with credentials for registries.")
    ] = ()
    display_name: Annotated[str, Doc("Name to show.")] = ""
    description: Annotated[str, Doc("What the catalog holds.")] = ""
    publisher: Annotated[str, Doc("Who publishes the catalog.")] = ""
    icon: Annotated[Icon | None, Doc("Picture to show.")] = None


class RegistryService(Struct, frozen=True, kw_only=True):
    """The Service in front of the pod."""

    protocol: Annotated[str, Doc("grpc.")] = ""
    service_name: Annotated[str, Doc("Name of the Service.")] = ""
    service_namespace: Annotated[str, Doc("Namespace of the Service.")] = ""
    port: Annotated[str, Doc("Port of the Service.")] = ""
    created_at: Annotated[datetime | None, Doc("When it was made.")] = None


class ConfigMapReference(Struct, frozen=True, kw_only=True):
    """The ConfigMap that is served."""

    name: Annotated[str, Doc("Name of the ConfigMap.")]
    namespace: Annotated[str, Doc("Namespace of the ConfigMap.")]
    uid: Annotated[str, Doc("UID of the ConfigMap.")] = ""
    resource_version: Annotated[str, Doc("The version of the ConfigMap that is served.")] = ""
    last_update_time: Annotated[datetime | None, Doc("When that version was first seen.")] = None


class ConnectionState(Struct, frozen=True, kw_only=True):
    """The connection to the server of the catalog."""

    last_observed_state: Annotated[
        str, Doc("IDLE, CONNECTING, READY, TRANSIENT_FAILURE or SHUTDOWN.")
    ]
    address: Annotated[str, Doc("host:port of the server.")] = ""
    last_connect: Annotated[datetime | None, Doc("When the state was found.")] = None


class CatalogSourceStatus(Struct, frozen=True, kw_only=True):
    """What serves the catalog, and how it is."""

    message: Annotated[str, Doc("What is wrong, made for people to read.")] = ""
    reason: Annotated[str, Doc("One word for what is wrong.")] = ""
    config_map_reference: Annotated[
        ConfigMapReference | None, Doc("The ConfigMap that is served.")
    ] = None
    registry_service: Annotated[RegistryService | None, Doc("The Service in front of the pod.")] = (
        None
    )
    connection_state: Annotated[
        ConnectionState | None, Doc("The connection to the server of the catalog.")
    ] = None
    latest_image_registry_poll: Annotated[
        datetime | None, Doc("When the registry was last looked at.")
    ] = None
    conditions: Annotated[Conditions, Doc("Whether the image could be named by its template.")] = ()


class CatalogSource(Struct, frozen=True, kw_only=True):
    """A catalog of packages: for its namespace, or for all from the global catalog namespace."""

    metadata: ObjectMeta
    spec: Annotated[CatalogSourceSpec, Doc("Where the catalog comes from, and how it ranks.")]
    status: Annotated[CatalogSourceStatus, Doc("What serves the catalog, and how it is.")] = field(
        default_factory=CatalogSourceStatus
    )

    @classmethod
    def from_object(cls, raw: Any) -> Self:
        """The model of an object as the API server holds it. Raises InvalidObjectError."""
        return wire.read_object(cls, raw, api_version=names.V1ALPHA1)
