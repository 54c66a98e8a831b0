"""A namespace of OLM Classic in memory: its API server, and those who carry out what is planned."""

import itertools
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, TypeVar

from api.objects import GVK, KubeObject, gvk_of, name_of
from olm_classic.kinds import (
    CATALOG_SOURCE,
    CLUSTER_SERVICE_VERSION,
    INSTALL_PLAN,
    OPERATOR_GROUP,
    SUBSCRIPTION,
)
from olm_runtime.kube.errors import ConflictError

KINDS = (CATALOG_SOURCE, CLUSTER_SERVICE_VERSION, INSTALL_PLAN, OPERATOR_GROUP, SUBSCRIPTION)
NAMESPACE = "apps"
W = TypeVar("W")
Feed = Callable[[str, KubeObject], None]


class KilledError(BaseException):
    """The process ends here."""


@dataclass
class MemoryServer:
    """The objects of a namespace; the writes of the process under test may be its last.

    As an API server: a write raises the version, a create leaves out the status, a status is
    written for the version that it was made of.
    """

    objects: dict[tuple[GVK, str], KubeObject] = field(default_factory=dict)
    feed: Feed = lambda _, __: None
    writes: int = 0
    left: int | None = None
    """Writes until the process is killed, which happens right after the last of them."""
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def of(self, kind: GVK) -> list[KubeObject]:
        """All objects of a kind."""
        return [deepcopy(obj) for (each, _), obj in sorted(self.objects.items()) if each == kind]

    def put(self, obj: KubeObject) -> KubeObject:
        """Writes a whole object, as anybody may."""
        made = deepcopy(obj)
        meta = made["metadata"]
        number = next(self._numbers)
        meta.setdefault("namespace", NAMESPACE)
        meta.setdefault("uid", f"uid-{number}")
        meta["resourceVersion"] = str(number)
        self.objects[gvk_of(made), name_of(made)] = made
        self.feed("MODIFIED", deepcopy(made))
        return deepcopy(made)

    def remove(self, kind: GVK, name: str) -> None:
        """Deletes an object, and what no other owner holds."""
        gone = self.objects.pop((kind, name), None)
        if gone is None:
            return
        meta = gone["metadata"] | {"resourceVersion": str(next(self._numbers))}
        self.feed("DELETED", gone | {"metadata": meta})
        for (other, theirs), obj in list(self.objects.items()):
            owners = obj["metadata"].get("ownerReferences")
            if owners and not any((SUBSCRIPTION, o["name"]) in self.objects for o in owners):
                self.remove(other, theirs)

    # What a KubeClient does, as far as it is used.

    async def create(self, obj: KubeObject, *, field_manager: str) -> KubeObject:
        made = {key: deepcopy(value) for key, value in obj.items() if key != "status"}
        prefix = made["metadata"].pop("generateName")
        made["metadata"]["name"] = f"{prefix}{next(self._numbers):05}"
        return self._written(lambda: self.put(made))

    async def patch(self, obj: KubeObject, patch: list[Any], **_: Any) -> KubeObject:
        known = self.objects[gvk_of(obj), name_of(obj)]
        if known["metadata"]["resourceVersion"] != patch[0]["value"]:
            raise ConflictError("it is another", status=409)
        return self._written(lambda: self.put(known | {"status": patch[1]["value"]}))

    async def find(self, gvk: GVK, name: str, _: str = "") -> KubeObject | None:
        return deepcopy(self.objects.get((gvk, name)))

    async def delete(self, obj: KubeObject, *, uid: str = "") -> None:
        self._written(lambda: self.remove(gvk_of(obj), name_of(obj)))

    def _written(self, write: Callable[[], W]) -> W:
        if self.left == 0:
            raise KilledError
        self.writes += 1
        answer = write()
        if self.left is not None:
            self.left -= 1
            if self.left == 0:
                raise KilledError
        return answer


def install(server: MemoryServer, replaces: dict[str, str], fails: str = "") -> bool:
    """Carries out the oldest plan that may begin; whether there was one.

    It fails before it wrote anything with `early`, and with `late` when all is written.
    """
    for plan in server.of(INSTALL_PLAN):
        status = plan.get("status") or {}
        if status.get("phase") == "RequiresApproval" and plan["spec"]["approved"]:
            server.put(plan | {"status": status | {"phase": "Installing"}})
            return True
        if status.get("phase") != "Installing":
            continue
        for step in status["plan"] if fails != "early" else ():
            name = step["resolving"]
            if (CLUSTER_SERVICE_VERSION, name) not in server.objects:
                server.put(csv(name, replaces.get(name, "")))
        server.put(plan | {"status": status | {"phase": "Failed" if fails else "Complete"}})
        return True
    return False


def operate(server: MemoryServer) -> bool:
    """Does what olm-operator does with the ClusterServiceVersions; whether there was anything."""
    found = {name_of(each): each for each in server.of(CLUSTER_SERVICE_VERSION)}
    for each in found.values():
        if (each["status"]["phase"]) != "Succeeded":
            server.put(each | {"status": {"phase": "Succeeded"}})
            return True
        if each["spec"].get("replaces") in found:
            server.remove(CLUSTER_SERVICE_VERSION, each["spec"]["replaces"])
            return True
    return False


def csv(name: str, replaces: str) -> KubeObject:
    """A ClusterServiceVersion that provides nothing but its package."""
    package, _, version = name.partition(".v")
    properties = (
        f'{{"properties":[{{"type":"olm.package","value":'
        f'{{"packageName":"{package}","version":"{version}.0.0"}}}}]}}'
    )
    return {
        "apiVersion": CLUSTER_SERVICE_VERSION.api_version,
        "kind": CLUSTER_SERVICE_VERSION.kind,
        "metadata": {"name": name, "annotations": {"operatorframework.io/properties": properties}},
        "spec": {"version": f"{version}.0.0", "replaces": replaces},
        "status": {"phase": "Pending"},
    }
