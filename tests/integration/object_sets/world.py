"""ClusterObjectSets as users apply them, in a namespace of their own."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from api.objects import KubeObject
from api.olm.v1 import names
from e2e.harness.controlplane import wait_until
from e2e.harness.rights import wait_revoked
from e2e.olm.api import OLM, PATIENCE_SECONDS, Api
from e2e.olm.programs import SYSTEM_NAMESPACE, Olm

DRIFT_SECONDS = 60.0  # a deadline for a loaded machine; how fast it is, see the benchmark
CONTROLLER = f"system:serviceaccount:{SYSTEM_NAMESPACE}:operator-controller-controller-manager"
WRITES = {"create", "update", "patch", "delete"}


@dataclass(frozen=True)
class World:
    """A namespace, and sets that act as its service account."""

    product: Olm
    api: Api
    namespace: str

    @property
    def account(self) -> str:
        return f"system:serviceaccount:{self.namespace}:installer"

    def apply(self, *objects: KubeObject) -> None:
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
        self.product.control_plane.apply(text)

    def revoke(self) -> None:
        """Takes the account all its rights."""
        bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
        self.product.control_plane.remove(f"{bindings}/{self.namespace}-installer")
        with self.product.control_plane.client() as client:
            wait_revoked(client, self.account, verb="create", resource="configmaps")

    def set_name(self, name: str = "set") -> str:
        return f"{self.namespace}-{name}"

    def object_set(self, *phases: list[KubeObject], name: str = "set", **spec: Any) -> KubeObject:
        notes = {
            names.ANNOTATION_SERVICE_ACCOUNT_NAMESPACE: self.namespace,
            names.ANNOTATION_SERVICE_ACCOUNT_NAME: "installer",
        }
        return {
            "apiVersion": names.API_VERSION,
            "kind": names.CLUSTER_OBJECT_SET,
            "metadata": {"name": self.set_name(name), "annotations": notes},
            "spec": {
                "lifecycleState": "Active",
                "revision": 1,
                "collisionProtection": "Prevent",
                "phases": [
                    {"name": f"phase-{i}", "objects": [{"object": o} for o in phase]}
                    for i, phase in enumerate(phases)
                ],
                **spec,
            },
        }

    @property
    def extension_path(self) -> str:
        return f"{OLM}/clusterextensions/{self.namespace}"

    def path(self, name: str = "set") -> str:
        return f"{OLM}/clusterobjectsets/{self.set_name(name)}"

    def wait(self, kind: str, status: str, *, name: str = "set", message: str = "") -> KubeObject:
        return self.api.wait_condition(self.path(name), kind, status, message=message)

    def config_map(self, name: str = "settings", **data: str) -> KubeObject:
        meta = {"name": name, "namespace": self.namespace}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}

    def map_path(self, name: str = "settings") -> str:
        return f"/api/v1/namespaces/{self.namespace}/configmaps/{name}"

    def map(self, name: str = "settings") -> KubeObject:
        found = self.api.get(self.map_path(name))
        assert found is not None
        return found

    def audit(self) -> list[dict[str, Any]]:
        return self.product.control_plane.audit_events()

    def asked(self, since: int = 0) -> list[dict[str, Any]]:
        """What operator-controller asked for, from an entry of the log on."""
        return [e for e in self.audit()[since:] if e["user"]["username"] == CONTROLLER]

    def requests(self, resource: str) -> list[dict[str, Any]]:
        """What operator-controller asked for in the namespace, by resource."""
        wanted = {"namespace": self.namespace, "resource": resource}
        return [e for e in self.asked() if wanted.items() <= e.get("objectRef", {}).items()]


def deployment(world: World, *, replicas: int = 1) -> KubeObject:
    """One that nobody runs: it is available only without replicas."""
    labels = {"app": "web"}
    container = {"name": "c", "image": "registry.invalid/web:1"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": world.namespace},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def crd(group: str, *, scope: str = "Namespaced") -> KubeObject:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{group}"},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"plural": "things", "singular": "thing", "kind": "Thing"},
            "versions": [version],
        },
    }


def thing(world: World, group: str) -> KubeObject:
    meta = {"name": "one", "namespace": world.namespace}
    return {"apiVersion": f"{group}/v1", "kind": "Thing", "metadata": meta, "size": 1}


def within(seconds: float, holds: Callable[[], bool], what: str) -> None:
    wait_until(holds, what=what, timeout=seconds)


def quiet(world: World, seconds: float = 1.0) -> None:
    """Waits until operator-controller has asked for nothing for a while."""

    def requests() -> int:
        return sum(e["verb"] != "watch" for e in world.asked())

    def unchanged() -> bool:
        before = requests()
        time.sleep(seconds)
        return requests() == before

    within(PATIENCE_SECONDS, unchanged, "no more requests")


def make_extension(world: World) -> dict[str, Any]:
    """Makes an extension that no catalog offers anything for; a reference to it as the owner."""
    catalog = {"packageName": world.namespace}
    extension = {
        "apiVersion": names.API_VERSION,
        "kind": names.CLUSTER_EXTENSION,
        "metadata": {"name": world.namespace},
        "spec": {
            "namespace": world.namespace,
            "serviceAccount": {"name": "installer"},
            "source": {"sourceType": "Catalog", "catalog": catalog},
        },
    }
    world.apply(extension)
    found = world.api.get(world.extension_path)
    assert found is not None
    return {
        "apiVersion": names.API_VERSION,
        "kind": names.CLUSTER_EXTENSION,
        "name": world.namespace,
        "uid": found["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def revision_of(
    world: World, reference: dict[str, Any], number: int, *phases: list[KubeObject]
) -> KubeObject:
    """A revision of the extension, as its controller makes them."""
    found = world.object_set(*phases, name=str(number), revision=number)
    found["metadata"]["ownerReferences"] = [reference]
    version = f"1.0.{number}"
    found["metadata"]["annotations"] |= {
        names.ANNOTATION_BUNDLE_NAME: f"{world.namespace}.v{version}",
        names.ANNOTATION_BUNDLE_VERSION: version,
        names.ANNOTATION_PACKAGE_NAME: world.namespace,
    }
    found["metadata"]["labels"] = {
        names.LABEL_OWNER_KIND: names.CLUSTER_EXTENSION,
        names.LABEL_OWNER_NAME: world.namespace,
    }
    return found
