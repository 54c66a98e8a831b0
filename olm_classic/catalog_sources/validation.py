"""Whether a CatalogSource can be served at all, in upstream's words. Pure."""

from enum import StrEnum

from api.operators.v1alpha1.catalogsource import CatalogSourceSpec


class SourceType(StrEnum):
    """What a catalog is served from."""

    GRPC = "grpc"
    CONFIG_MAP = "configmap"
    INTERNAL = "internal"


class Reason(StrEnum):
    """The words of `status.reason`."""

    SPEC_INVALID = "SpecInvalidError"
    CONFIG_MAP = "ConfigMapError"
    REGISTRY_SERVER = "RegistryServerError"
    INVALID_INTERVAL = "InvalidIntervalError"


CONFIG_MAP_TYPES = frozenset({SourceType.CONFIG_MAP.value, SourceType.INTERNAL.value})


def problem_of(spec: CatalogSourceSpec) -> str:
    """What is wrong with a specification, for `SpecInvalidError`; empty if nothing is."""
    if spec.source_type in CONFIG_MAP_TYPES:
        if not spec.config_map:
            return f"configmap name unset: must be set for sourcetype: {spec.source_type}"
        return ""
    if spec.source_type == SourceType.GRPC:
        if not spec.image and not spec.address:
            return "image and address unset: at least one must be set for sourcetype: grpc"
        return ""
    return f"unknown sourcetype: {spec.source_type}"


def is_config_map(spec: CatalogSourceSpec) -> bool:
    """Whether the catalog is served from a ConfigMap."""
    return spec.source_type in CONFIG_MAP_TYPES


def is_image(spec: CatalogSourceSpec) -> bool:
    """Whether the catalog is an image that is run: it goes before an address."""
    return spec.source_type == SourceType.GRPC and bool(spec.image)


def is_address(spec: CatalogSourceSpec) -> bool:
    """Whether somebody else runs the server."""
    return spec.source_type == SourceType.GRPC and not spec.image and bool(spec.address)
