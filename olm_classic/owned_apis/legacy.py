"""What OLM called the objects of an API service before it named them after Deployments. Pure."""

from collections.abc import Iterator

from api.objects import GVK
from olm_classic.owned_apis.described import Serving, api_service_name
from olm_classic.owned_apis.objects import DELEGATOR, SYSTEM_NAMESPACE
from olm_classic.selections import (
    CLUSTER_ROLE_BINDINGS,
    OWNED_SECRETS,
    OWNED_SERVICES,
    ROLE_BINDINGS,
    ROLES,
)


def legacy_objects(serving: Serving) -> Iterator[tuple[GVK, str, str]]:
    """Kind, namespace and name of what upstream's earlier releases made in place of ours."""
    for each in serving.api_services:
        name = api_service_name(each)
        service = name.replace(".", "-")
        if service == serving.service:
            continue  # the Deployment happens to be called so that both names are one
        inside = serving.namespace
        yield OWNED_SERVICES.gvk, inside, service
        yield OWNED_SECRETS.gvk, inside, f"{name}-cert"
        yield ROLES.gvk, inside, f"{name}-cert"
        yield ROLE_BINDINGS.gvk, inside, f"{name}-cert"
        yield CLUSTER_ROLE_BINDINGS.gvk, "", f"{name}-{DELEGATOR}"
        yield ROLE_BINDINGS.gvk, SYSTEM_NAMESPACE, f"{name}-auth-reader"
