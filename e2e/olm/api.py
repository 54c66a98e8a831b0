"""Reads and waits for objects of a control plane, faster than one kubectl for each read."""

from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from api.objects import KubeObject, condition
from e2e.harness.controlplane import ControlPlane
from e2e.harness.states import object_at, states

OLM = "/apis/olm.operatorframework.io/v1"
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
"""About what is in no namespace, too."""
PATIENCE_SECONDS = 180.0
"""A busy machine is not a fault: what never comes is found out all the same."""


class Api:
    """The API server, as the administrator."""

    def __init__(self, control_plane: ControlPlane) -> None:
        """Connects at the first request."""
        self._http = control_plane.client()

    def __enter__(self) -> Self:
        """Nothing is opened yet."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes the connections."""
        self._http.close()

    def get(self, path: str) -> KubeObject | None:
        """The object at an API path, or None."""
        return object_at(self._http, path)

    def events(self, name: str) -> list[KubeObject]:
        """The Events about a ClusterExtension, the oldest first."""
        about = ("ClusterExtension", name)
        found = sorted(self.list(EVENTS), key=lambda event: str(event["eventTime"]))
        return [e for e in found if (e["regarding"]["kind"], e["regarding"]["name"]) == about]

    def reasons(self, name: str) -> list[str]:
        """The reasons of these."""
        return [event["reason"] for event in self.events(name)]

    def list(self, path: str, labels: str = "") -> list[KubeObject]:
        """The objects of a collection."""
        answer = self._http.get(path, params={"labelSelector": labels} if labels else None)
        items: list[KubeObject] = answer.raise_for_status().json()["items"]
        return items

    def create(self, path: str, obj: KubeObject) -> None:
        """Creates an object in a collection."""
        self._http.post(path, json=obj).raise_for_status()

    def patch(self, path: str, patch: dict[str, Any]) -> None:
        """Merge-patches an object."""
        headers = {"Content-Type": "application/merge-patch+json"}
        self._http.patch(path, json=patch, headers=headers).raise_for_status()

    def replace(self, path: str, obj: KubeObject) -> None:
        """Replaces an object, or its status."""
        self._http.put(path, json=obj).raise_for_status()

    def delete(self, path: str, *, propagation: str = "Background") -> None:
        """Deletes an object; its dependents follow as `propagation` says."""
        self._http.delete(path, params={"propagationPolicy": propagation}).raise_for_status()

    def wait(
        self,
        path: str,
        holds: Callable[[KubeObject | None], bool],
        *,
        what: str,
        timeout: float = PATIENCE_SECONDS,
    ) -> KubeObject | None:
        """The object once `holds` says so. TimeoutError with its conditions if it never does."""
        found = None
        for found in states(self._http, path, seconds=timeout):
            if holds(found):
                return found
        raise TimeoutError(f"{what}: not within {timeout:.0f} s\n{conditions_text(found)}")

    def wait_condition(
        self,
        path: str,
        kind: str,
        status: str,
        *,
        message: str = "",
        timeout: float = PATIENCE_SECONDS,
    ) -> KubeObject:
        """Waits for a condition with a status, and with `message` somewhere in its text."""

        def holds(obj: KubeObject | None) -> bool:
            found = condition(obj, kind) if obj else None
            return found is not None and found["status"] == status and message in found["message"]

        found = self.wait(path, holds, what=f"{path} {kind}={status} {message!r}", timeout=timeout)
        if found is None:
            raise TimeoutError(f"{path} is gone")
        return found

    def wait_gone(self, path: str, *, timeout: float = PATIENCE_SECONDS) -> None:
        """Waits until there is no such object."""
        self.wait(path, lambda obj: obj is None, what=f"{path} gone", timeout=timeout)

    def wait_installed(
        self, name: str, version: str, *, timeout: float = PATIENCE_SECONDS
    ) -> KubeObject:
        """Waits until an extension has that version installed and has nothing left to do."""

        def holds(obj: KubeObject | None) -> bool:
            status = (obj or {}).get("status") or {}
            installed = (status.get("install") or {}).get("bundle") or {}
            found = condition(obj, "Progressing") if obj else None
            return installed.get("version") == version and bool(
                found and found["reason"] == "Succeeded"
            )

        path = extension_path(name)
        found = self.wait(path, holds, what=f"{name} {version} installed", timeout=timeout)
        if found is None:
            raise TimeoutError(f"{path} is gone")
        return found


def extension_path(name: str) -> str:
    """The API path of a ClusterExtension."""
    return f"{OLM}/clusterextensions/{name}"


def catalog_path(name: str) -> str:
    """The API path of a ClusterCatalog."""
    return f"{OLM}/clustercatalogs/{name}"


def conditions_text(obj: KubeObject | None) -> str:
    """The conditions of an object, a line each."""
    if obj is None:
        return "there is no such object"
    conditions = (obj.get("status") or {}).get("conditions") or ()
    lines = [
        f"  {c.get('type') or c['phase']}={c.get('status', '')} {c.get('reason', '')}: "
        f"{c.get('message', '')}"
        for c in conditions  # those of ClusterServiceVersions are phases
    ]
    return "\n".join(lines) or "it has no conditions"
