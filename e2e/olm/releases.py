"""Releases of a made-up product, as the contents of release images.

Three components: `alpha` and `beta` at runlevel 20, `gamma` at 30; a CRD at 10 with its object; the
operator's own Deployment at 00. Each component has a ConfigMap before and one after its
ClusterOperator.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from api.objects import KubeObject
from e2e.harness.images import build_image
from e2e.harness.registry import Registry

NAMESPACE = "product"
GROUP = "product.example.com"
PROFILE = {"include.release.openshift.io/self-managed-high-availability": "true"}
COMPONENTS = {"alpha": "20", "beta": "20", "gamma": "30"}
DIGEST = "sha256:" + "0" * 64


@dataclass(frozen=True)
class ReleaseSpec:
    """A release.

    extra      more manifests by file name, or others in place of those of that name
    without    files that it does not have
    metadata   of the release, in addition to its version
    """

    version: str
    extra: Mapping[str, KubeObject | str] = field(default_factory=dict)
    without: frozenset[str] = frozenset()
    metadata: Mapping[str, str] = field(default_factory=dict)

    def manifests(self) -> dict[str, KubeObject | str]:
        """By file name, as they lie in `release-manifests`."""
        found = dict(_common(self.version))
        for component, runlevel in COMPONENTS.items():
            for name, obj in _component(component, self.version):
                found[f"0000_{runlevel}_{component}_{name}.yaml"] = obj
        return {
            name: obj for name, obj in {**found, **self.extra}.items() if name not in self.without
        }

    def files(self) -> dict[str, bytes]:
        """The content of the release image, by path."""
        release = {
            "kind": "cincinnati-metadata-v0",
            "version": self.version,
            "previous": [],
            "metadata": {"url": f"https://example.com/{self.version}", **self.metadata},
        }
        images = {
            "kind": "ImageStream",
            "apiVersion": "image.openshift.io/v1",
            "metadata": {"name": self.version, "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"tags": [_tag(name) for name in COMPONENTS]},
        }
        files = {
            "release-manifests/release-metadata": json.dumps(release).encode(),
            "release-manifests/image-references": json.dumps(images).encode(),
            "manifests/0000_00_cluster-version-operator_03_deployment.yaml": _TEMPLATE.encode(),
        }
        for name, obj in self.manifests().items():
            text = obj if isinstance(obj, str) else json.dumps(obj)
            files[f"release-manifests/{name}"] = text.encode()
        return files

    def publish(self, registry: Registry) -> str:
        """Pushes the release image; its reference by digest."""
        image = build_image([self.files()])
        return registry.push(image, "releases/product", tag=self.version).reference

    def write(self, folder: Path) -> Path:
        """Lays the content of the image out; the folder."""
        for path, content in self.files().items():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        return folder


def config_map(name: str, data: Mapping[str, str], **annotations: str) -> KubeObject:
    """A ConfigMap of the product."""
    return _object("v1", "ConfigMap", name, namespace=NAMESPACE, **annotations) | {
        "data": dict(data)
    }


def cluster_operator(name: str, version: str) -> KubeObject:
    """What a release says of the ClusterOperator of a component."""
    status = {
        "versions": [{"name": "operator", "version": version}],
        "relatedObjects": [{"group": "", "resource": "namespaces", "name": NAMESPACE}],
    }
    made = _object("config.openshift.io/v1", "ClusterOperator", name)
    return made | {"spec": {}, "status": status}


def _component(component: str, version: str) -> Iterator[tuple[str, KubeObject]]:
    yield "01_before", config_map(f"{component}-before", {"version": version})
    yield "05_operator", cluster_operator(component, version)
    yield "09_after", config_map(f"{component}-after", {"version": version})


def _common(version: str) -> Iterator[tuple[str, KubeObject]]:
    yield "0000_10_product_00_namespace.yaml", _object("v1", "Namespace", NAMESPACE)
    definition = _object("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"things.{GROUP}")
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    served = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
    spec = {
        "group": GROUP,
        "names": names,
        "scope": "Namespaced",
        "versions": [served],
        "conversion": {"strategy": "None"},
    }
    yield "0000_10_product_01_things.crd.yaml", definition | {"spec": spec}
    thing = _object(f"{GROUP}/v1", "Thing", "default", namespace=NAMESPACE)
    yield "0000_10_product_02_thing.yaml", thing | {"spec": {"version": version}}


def _object(
    api_version: str, kind: str, name: str, *, namespace: str = "", **annotations: str
) -> KubeObject:
    meta: dict[str, Any] = {"name": name, "annotations": {**PROFILE, **annotations}}
    if namespace:
        meta["namespace"] = namespace
    return {"apiVersion": api_version, "kind": kind, "metadata": meta}


def _tag(name: str) -> Mapping[str, Any]:
    return {"name": name, "from": {"kind": "DockerImage", "name": f"example.com/{name}@{DIGEST}"}}


_TEMPLATE = f"""
apiVersion: apps/v1
kind: Deployment
metadata:
  name: cluster-version-operator
  namespace: openshift-cluster-version
  annotations: {json.dumps(PROFILE)}
spec:
  replicas: 1
  strategy: {{"type": "Recreate"}}
  selector:
    matchLabels: {{k8s-app: cluster-version-operator}}
  template:
    metadata:
      labels: {{k8s-app: cluster-version-operator}}
    spec:
      containers:
      - name: cluster-version-operator
        image: '{{{{.ReleaseImage}}}}'
        args: [start]
"""
