"""Media types of what is sent to the API server and asked of it."""

JSON_TYPE = "application/json"
MERGE_PATCH = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
METADATA_OBJECT = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

GROUP_DISCOVERY = "application/json;as=APIGroupDiscoveryList;g=apidiscovery.k8s.io;v=v2"
"""Of `/api` and `/apis`: all groups, versions and resources in one answer."""


def accepted(*, metadata_only: bool) -> str:
    """The type of an object to ask for."""
    return METADATA_OBJECT if metadata_only else JSON_TYPE
