"""Server-side apply in this process: `kubectl apply` in a hundredth of its processor time."""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import httpx
import yaml

from e2e.harness.rights import wait_granted
from e2e.harness.states import states

FIELD_MANAGER = "kubectl"
DEFAULT_NAMESPACE = "default"
APPLY = {"fieldManager": FIELD_MANAGER, "force": "true", "fieldValidation": "Strict"}
PATCH_TYPE = {"Content-Type": "application/apply-patch+yaml"}
DEFINITION = "CustomResourceDefinition"
RBAC = "rbac.authorization.k8s.io/"
NO_SUCH_PATH = "404 page not found"
NEW_KIND_SECONDS, POLL_SECONDS = 60.0, 0.05
"""A kind is served a moment after its definition is established."""
PATIENCE_SECONDS = 120.0

Kind = tuple[str, str]
"""apiVersion and kind."""


class ManifestApplier:
    """Applies manifests as the user of a client.

    `known` are the kinds that were asked for: without it half of all requests ask for kinds.
    """

    def __init__(self, client: httpx.Client, known: dict[Kind, dict[str, Any]]) -> None:
        self._client = client
        self._resources = known

    def apply(self, objects: Iterable[dict[str, Any]]) -> None:
        """Applies objects in their order.

        Kinds that were defined are served then, and bindings in force. Errors:
        httpx.HTTPStatusError with the API server's message; TimeoutError, also for a kind that is
        not served.
        """
        answers = [self._apply(obj) for obj in objects]
        for definition in (answer for answer in answers if answer["kind"] == DEFINITION):
            if not _is_established(definition):
                self._wait_served(definition)
        for binding in filter(_is_binding, answers):
            wait_granted(self._client, binding)

    def delete(self, objects: Iterable[dict[str, Any]]) -> None:
        """Deletes the objects that are there, and waits until they are gone.

        Errors: httpx.HTTPStatusError, TimeoutError.
        """
        served = [obj for obj in objects if self._is_served(obj)]
        paths = [self._path(obj) for obj in reversed(served)]
        for path in paths:
            answer = self._client.delete(path)
            if answer.status_code != httpx.codes.NOT_FOUND:
                answer.raise_for_status()
        for path in paths:
            self.wait_gone(path)

    def wait_gone(self, path: str) -> None:
        """Waits until there is nothing at an API path. Errors: TimeoutError."""
        if all(states(self._client, path, seconds=PATIENCE_SECONDS)):
            raise TimeoutError(f"{path} is there after {PATIENCE_SECONDS:.0f} s")

    def _apply(self, obj: dict[str, Any]) -> dict[str, Any]:
        deadline = time.monotonic() + NEW_KIND_SECONDS
        while not self._is_served(obj) or _is_early(answer := self._patch(obj)):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{obj['apiVersion']} {obj['kind']} is not served")
            self._resources.pop((obj["apiVersion"], obj["kind"]), None)  # perhaps defined anew
            time.sleep(POLL_SECONDS)
        if answer.is_error:
            raise httpx.HTTPStatusError(answer.text, request=answer.request, response=answer)
        applied: dict[str, Any] = answer.json()
        return applied

    def _patch(self, obj: dict[str, Any]) -> httpx.Response:
        """Asks for an object as the manifest has it."""
        body = json.dumps(obj).encode()
        return self._client.patch(self._path(obj), params=APPLY, headers=PATCH_TYPE, content=body)

    def _is_served(self, obj: dict[str, Any]) -> bool:
        """Whether its kind is known, or the API server knows it."""
        kind = (obj["apiVersion"], obj["kind"])
        if kind not in self._resources:
            listed = self._client.get(_root(obj["apiVersion"]))
            if listed.status_code == httpx.codes.NOT_FOUND:
                return False
            for resource in listed.raise_for_status().json()["resources"]:
                if "/" not in resource["name"]:
                    self._resources[obj["apiVersion"], resource["kind"]] = resource
        return kind in self._resources

    def _path(self, obj: dict[str, Any]) -> str:
        """Of an object of a kind that is known."""
        found = self._resources[obj["apiVersion"], obj["kind"]]
        space = obj["metadata"].get("namespace") or DEFAULT_NAMESPACE
        inside = f"/namespaces/{space}" if found["namespaced"] else ""
        return f"{_root(obj['apiVersion'])}{inside}/{found['name']}/{obj['metadata']['name']}"

    def _wait_served(self, definition: dict[str, Any]) -> None:
        """Unless there is another kind of its names."""
        last = self._wait(self._path(definition), lambda answer: _is_judged(answer.json()))
        served = [each["name"] for each in definition["spec"]["versions"] if each["served"]]
        if served and _is_established(last.json()):
            spec = definition["spec"]
            path = f"/apis/{spec['group']}/{served[0]}/{spec['names']['plural']}?limit=1"
            self._wait(path, lambda answer: not _is_early(answer))

    def _wait(self, path: str, holds: Callable[[httpx.Response], bool]) -> httpx.Response:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not holds(answer := self._client.get(path)):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{path} is after {PATIENCE_SECONDS:.0f} s {answer.text}")
            time.sleep(POLL_SECONDS)
        return answer


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def objects_of(manifests: str) -> Iterator[dict[str, Any]]:
    """The objects of YAML documents; the items of a List too."""
    for document in yaml.load_all(manifests, Loader=_LOADER):
        if document is not None:
            yield from document["items"] if document["kind"] == "List" else [document]


def _is_early(answer: httpx.Response) -> bool:
    """Whether a kind is not served yet."""
    return answer.text.strip() == NO_SUCH_PATH


def _is_binding(obj: dict[str, Any]) -> bool:
    return bool(obj["apiVersion"].startswith(RBAC) and obj["kind"].endswith("Binding"))


def _is_established(definition: dict[str, Any]) -> bool:
    return ("Established", "True") in _conditions(definition)


def _is_judged(definition: dict[str, Any]) -> bool:
    return _is_established(definition) or ("NamesAccepted", "False") in _conditions(definition)


def _conditions(definition: dict[str, Any]) -> set[tuple[str, str]]:
    conditions = definition["status"].get("conditions") or ()
    return {(each["type"], each["status"]) for each in conditions}
