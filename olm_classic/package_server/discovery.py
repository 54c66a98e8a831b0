"""What the API is: discovery, as lists of old and as one document, and OpenAPI. Pure."""

from typing import Any

import orjson

from olm_classic.package_manifests.manifests import API_VERSION, GROUP, KIND, PLURAL, VERSION
from olm_classic.package_server.schemas import PREFIX, schemas

SINGULAR = "packagemanifest"
VERBS = ["get", "list"]
PATH = f"/apis/{API_VERSION}"
OPENAPI_PATH = f"/openapi/v3/apis/{API_VERSION}"


def group() -> dict[str, Any]:
    """The APIGroup, for a list of them or alone."""
    version = {"groupVersion": API_VERSION, "version": VERSION}
    return {"name": GROUP, "versions": [version], "preferredVersion": version}


def groups() -> dict[str, Any]:
    """The APIGroupList."""
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [group()]}


def resource_list() -> dict[str, Any]:
    """The APIResourceList."""
    common = {"singularName": SINGULAR, "namespaced": True, "kind": KIND}
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": API_VERSION,
        "resources": [
            {"name": PLURAL, **common, "verbs": VERBS},
            {"name": f"{PLURAL}/icon", **common, "singularName": "", "verbs": ["get"]},
        ],
    }


def group_discovery(version: str) -> dict[str, Any]:
    """The APIGroupDiscoveryList of a version of the discovery API."""
    kind = {"group": GROUP, "version": VERSION, "kind": KIND}
    resource = {
        "resource": PLURAL,
        "responseKind": kind,
        "scope": "Namespaced",
        "singularResource": SINGULAR,
        "verbs": VERBS,
        "subresources": [{"subresource": "icon", "responseKind": kind, "verbs": ["get"]}],
    }
    versions = [{"version": VERSION, "resources": [resource], "freshness": "Current"}]
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": f"apidiscovery.k8s.io/{version}",
        "metadata": {},
        "items": [{"metadata": {"name": GROUP, "creationTimestamp": None}, "versions": versions}],
    }


def openapi_index(digest: str) -> dict[str, Any]:
    """Where the description of version 3 is; `digest` changes with it."""
    url = f"{OPENAPI_PATH}?hash={digest}"
    return {"paths": {OPENAPI_PATH.removeprefix("/openapi/v3/"): {"serverRelativeURL": url}}}


def openapi_v3() -> bytes:
    """The API's description of version 3."""
    return _openapi("#/components/schemas/", {"openapi": "3.0.0"}, ("components", "schemas"))


def openapi_v2() -> bytes:
    """The API's description of version 2."""
    return _openapi("#/definitions/", {"swagger": "2.0"}, ("definitions",))


def _openapi(references: str, begin: dict[str, str], place: tuple[str, ...]) -> bytes:
    """A description with the schemas at `place`, which refer to each other by `references`."""
    described: dict[str, Any] = schemas(references)
    for name in reversed(place):
        described = {name: described}
    info = {"title": "package-server", "version": VERSION}
    return orjson.dumps({**begin, "info": info, "paths": _paths(references), **described})


def _paths(references: str) -> dict[str, Any]:
    kind = {"group": GROUP, "version": VERSION, "kind": KIND}
    found: dict[str, Any] = {}
    for path, action, name in (
        (f"{PATH}/{PLURAL}", "list", f"{KIND}List"),
        (f"{PATH}/namespaces/{{namespace}}/{PLURAL}", "list", f"{KIND}List"),
        (f"{PATH}/namespaces/{{namespace}}/{PLURAL}/{{name}}", "get", KIND),
    ):
        schema = {"$ref": f"{references}{PREFIX}{name}"}
        answer: dict[str, Any] = {"description": "OK"}
        if references.startswith("#/components"):
            answer["content"] = {"application/json": {"schema": schema}}
        else:
            answer["schema"] = schema
        found[path] = {
            "get": {
                "operationId": f"{action}{name}{'ForAll' * ('namespace' not in path)}",
                "responses": {"200": answer},
                "x-kubernetes-action": action,
                "x-kubernetes-group-version-kind": kind,
            },
        }
    return found
