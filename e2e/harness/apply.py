"""Server-side apply in this process: `kubectl apply` in a hundredth of its processor time."""

import json
import time
from typing import Any

import httpx
import yaml

FIELD_MANAGER = "kubectl"
DEFAULT_NAMESPACE = "default"
APPLY = {"fieldManager": FIELD_MANAGER, "force": "true", "fieldValidation": "Strict"}
PATCH_TYPE = {"Content-Type": "application/apply-patch+yaml"}
NO_SUCH_PATH = "404 page not found"
NEW_KIND_SECONDS, POLL_SECONDS = 10.0, 0.05
"""A kind is served a moment after its definition is established."""

Kind = tuple[str, str]
"""apiVersion and kind."""


class ManifestApplier:
    """Applies manifests as the user of a client; knows the kinds that it has asked for."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        self._resources: dict[Kind, dict[str, Any]] = {}

    def apply(self, manifests: str) -> None:
        """Applies YAML documents in their order; the items of a List too.

        Errors: httpx.HTTPStatusError with the API server's message; KeyError for a kind that is
        not served.
        """
        for document in yaml.load_all(manifests, Loader=_LOADER):
            for obj in _objects(document):
                self._apply(obj)

    def _apply(self, obj: dict[str, Any]) -> None:
        answer = self._patch(obj)
        deadline = time.monotonic() + NEW_KIND_SECONDS
        while answer.text.strip() == NO_SUCH_PATH and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
            answer = self._patch(obj)
        if answer.is_error:
            raise httpx.HTTPStatusError(answer.text, request=answer.request, response=answer)

    def _patch(self, obj: dict[str, Any]) -> httpx.Response:
        """Asks for an object as the manifest has it; the answer, perhaps that of discovery."""
        root = _root(obj["apiVersion"])
        kind = (obj["apiVersion"], obj["kind"])
        if kind not in self._resources:
            listed = self._client.get(root)
            if listed.is_error:
                return listed
            self._discover(obj["apiVersion"], listed.json()["resources"])
        found = self._resources[kind]
        space = obj["metadata"].get("namespace") or DEFAULT_NAMESPACE
        inside = f"/namespaces/{space}" if found["namespaced"] else ""
        path = f"{root}{inside}/{found['name']}/{obj['metadata']['name']}"
        body = json.dumps(obj).encode()
        return self._client.patch(path, params=APPLY, headers=PATCH_TYPE, content=body)

    def _discover(self, api_version: str, listed: list[dict[str, Any]]) -> None:
        for resource in listed:
            if "/" not in resource["name"]:
                self._resources[api_version, resource["kind"]] = resource


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _objects(document: dict[str, Any] | None) -> list[dict[str, Any]]:
    if document is None:
        return []
    items: list[dict[str, Any]] = document["items"] if document["kind"] == "List" else [document]
    return items
